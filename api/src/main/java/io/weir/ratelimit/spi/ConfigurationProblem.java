// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;

/**
 * One thing that is wrong with the configuration. All of them are reported together, at deployment.
 *
 * @param id the message's number, such as {@code WEIR-101}, never reused for anything else
 * @param place where it is: a property's name, or a class and method
 * @param value the value found there, empty if none; a secret is masked by whoever makes the problem, user and password in a
 *     URI always
 * @param problem what is wrong
 * @param remedy what to write instead
 */
public record ConfigurationProblem(String id, String place, String value, String problem, String remedy) {
    /** Checks that no component is null. */
    public ConfigurationProblem {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(place, "place");
        // A Redis address can stand in the place of any value, by mistake, with its password.
        value = value.replaceAll("://\\S*@", "://***@");
        Objects.requireNonNull(problem, "problem");
        Objects.requireNonNull(remedy, "remedy");
    }

    /** One line for the log. Line breaks in the value are shown as blanks. */
    @Override
    public String toString() {
        String shown = value.isEmpty() ? "" : " = " + value.replaceAll("\\p{Cntrl}", " ");
        return id + " " + place + shown + ": " + problem + "; " + remedy;
    }
}
