// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.request.Binding;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * The policies of methods. A method is bound once, at its first call. The methods of beans are checked at deployment. Other classes, such
 * as a sub-resource that is created by {@code new}, are known only from their first call.
 */
public final class MethodBindings {
    private record Called(Class<?> beanClass, Method method) {}

    private final Map<Called, Binding.OfMethod> bindings = new ConcurrentHashMap<>();
    private final BiFunction<Class<?>, Method, Binding> binder;
    private final Predicate<Class<?>> managed;

    /**
     * Creates bindings without a bound method. Only a call of a managed bean can end on another thread: one of an enterprise bean ends with
     * its thread.
     */
    public MethodBindings(BiFunction<Class<?>, Method, Binding> binder, Predicate<Class<?>> managed) {
        this.binder = binder;
        this.managed = managed;
    }

    /** Returns the policies of a method, {@link Binding#NONE} if it is not limited. */
    public Binding.OfMethod of(Class<?> beanClass, Method method) {
        Called called = new Called(beanClass, method);
        Binding.OfMethod known = bindings.get(called);
        return known != null ? known : bindings.computeIfAbsent(called, this::bind);
    }

    /** Tests whether a method that was called has a policy. */
    boolean have(String policy) {
        return bindings.values().stream()
                .flatMap(method -> method.binding().policies().stream())
                .anyMatch(due -> due.policy().name().equals(policy));
    }

    private Binding.OfMethod bind(Called called) {
        Binding binding = binder.apply(called.beanClass, called.method);
        return new Binding.OfMethod(
                binding,
                binding.needsArguments() ? NamedArguments.of(called.beanClass, called.method) : Map.of(),
                managed.test(called.beanClass) ? Binding.Asynchrony.of(called.method) : Binding.Asynchrony.NONE);
    }
}
