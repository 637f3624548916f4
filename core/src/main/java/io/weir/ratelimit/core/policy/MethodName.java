// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.List;

/**
 * The name of a limited method.
 *
 * @param text the name in keys, metrics and messages: the first form that no other limited method has
 * @param forms all names of the method in the configuration of costs, from {@code Class.method} to the one with package and parameters
 */
public record MethodName(String text, List<String> forms) {
    /** Copies the list. */
    public MethodName {
        forms = List.copyOf(forms);
    }

    /** Creates a name with one form. */
    public static MethodName of(String text) {
        return new MethodName(text, List.of(text));
    }

    /**
     * Returns the form without a package and parameters.
     *
     * @return {@code Class.method}
     */
    public String simple() {
        return forms.get(0);
    }

    /**
     * Returns the form that names no other method.
     *
     * @return the form with the package and the types of the parameters
     */
    public String full() {
        return forms.get(forms.size() - 1);
    }

    /**
     * Tests whether another method has the same simple name.
     *
     * @return true if the name has a package
     */
    public boolean isQualified() {
        return !text.equals(simple());
    }
}
