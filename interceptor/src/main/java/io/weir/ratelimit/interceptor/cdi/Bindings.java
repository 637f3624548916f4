// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * Which policies hold for which method. Each method is resolved once, when it is first called; at deployment every known one has
 * been checked. A class that is no bean, such as a sub-resource made by {@code new}, is only known from then on.
 */
final class Bindings {
    private record Called(Class<?> beanClass, Method method) {}

    /** The policies of a method, with the positions of its named arguments where a key uses one. */
    record Bound(Binding binding, Map<String, Integer> arguments) {}

    private final Map<Called, Bound> bindings = new ConcurrentHashMap<>();
    private final BiFunction<Class<?>, Method, Binding> resolver;

    Bindings(BiFunction<Class<?>, Method, Binding> resolver) {
        this.resolver = resolver;
    }

    /** The policies of a method, {@link Binding#NONE} if it is not limited. */
    Bound of(Class<?> beanClass, Method method) {
        Called called = new Called(beanClass, method);
        Bound known = bindings.get(called);
        return known != null ? known : bindings.computeIfAbsent(called, this::resolve);
    }

    private Bound resolve(Called called) {
        Binding binding = resolver.apply(called.beanClass, called.method);
        return new Bound(
                binding, binding.needsArguments() ? NamedArguments.of(called.beanClass, called.method) : Map.of());
    }
}
