// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import java.util.List;
import java.util.Set;

/**
 * The limited methods that a host knows.
 *
 * @param scanner reads the annotations of other methods at their first call
 * @param managed the classes whose asynchronous methods can wait without a thread
 */
public record AnnotatedMethods(List<LimitedMethod> methods, MethodScanner scanner, Set<Class<?>> managed) {
    /** No methods. */
    public static final AnnotatedMethods NONE = new AnnotatedMethods(List.of(), MethodScanner.NONE, Set.of());

    /** Copies the collections. */
    public AnnotatedMethods {
        methods = List.copyOf(methods);
        managed = Set.copyOf(managed);
    }
}
