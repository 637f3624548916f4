// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;

/**
 * A problem of the configuration. All problems are reported together, at deployment.
 *
 * @param id the number of the message, such as {@code WEIR-101}, which is never reused
 * @param place the property, or the class and method, that has the problem
 * @param value the value of the property, empty if there is none. The creator of the problem masks a secret value; user and password of
 *     a URI are always masked
 * @param problem what is wrong
 * @param remedy how to correct it
 */
public record ConfigurationProblem(String id, String place, String value, String problem, String remedy) {
    /** Checks that no component is null, and masks the user and the password of a URI. */
    public ConfigurationProblem {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(place, "place");
        // An address with a password can be the value of any property by mistake.
        value = value.replaceAll("://\\S*@", "://***@");
        Objects.requireNonNull(problem, "problem");
        Objects.requireNonNull(remedy, "remedy");
    }

    /** Returns one line of text. Control characters in the value are replaced by spaces. */
    @Override
    public String toString() {
        String shown = value.isEmpty() ? "" : " = " + value.replaceAll("\\p{Cntrl}", " ");
        return id + " " + place + shown + ": " + problem + "; " + remedy;
    }
}
