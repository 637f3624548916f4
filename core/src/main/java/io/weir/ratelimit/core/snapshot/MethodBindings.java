// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.request.Binding;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * The policies of methods. A method is bound once, at its first call. The methods of beans are checked at deployment. Other classes, such
 * as a sub-resource that is created by {@code new}, are known only from their first call.
 */
public final class MethodBindings {
    private record Called(Class<?> beanClass, Method method) {}

    /**
     * The policies of a method, and the positions of its named arguments if a key uses one.
     *
     * @param asynchrony how the method delivers its result, {@link Asynchrony#NONE} if a call cannot continue on another thread
     */
    public record MethodBinding(Binding binding, Map<String, Integer> arguments, Asynchrony asynchrony) {}

    private final Map<Called, MethodBinding> bindings = new ConcurrentHashMap<>();
    private final BiFunction<Class<?>, Method, Binding> binder;
    private final Predicate<Class<?>> managed;

    /**
     * Creates bindings without a bound method.
     *
     * @param managed tests whether a class is that of a managed bean, because a call of an enterprise bean ends with its thread
     */
    public MethodBindings(BiFunction<Class<?>, Method, Binding> binder, Predicate<Class<?>> managed) {
        this.binder = binder;
        this.managed = managed;
    }

    /** Returns the policies of a method, {@link Binding#NONE} if it is not limited. */
    public MethodBinding of(Class<?> beanClass, Method method) {
        Called called = new Called(beanClass, method);
        MethodBinding known = bindings.get(called);
        return known != null ? known : bindings.computeIfAbsent(called, this::bind);
    }

    /** Tests whether a method that was called has a policy. */
    boolean have(String policy) {
        return bindings.values().stream()
                .flatMap(method -> method.binding().policies().stream())
                .anyMatch(due -> due.policy().name().equals(policy));
    }

    private MethodBinding bind(Called called) {
        Binding binding = binder.apply(called.beanClass, called.method);
        return new MethodBinding(
                binding,
                binding.needsArguments() ? NamedArguments.of(called.beanClass, called.method) : Map.of(),
                managed.test(called.beanClass) ? Asynchrony.of(called.method) : Asynchrony.NONE);
    }

    /** The way in which a method delivers its result after it has returned. */
    public enum Asynchrony {
        /** The result is delivered when the method returns, or in a way that no other code can take over. */
        NONE,
        /** The method returns a stage. */
        STAGE,
        /** The method of a resource resumes its parameter of the type {@code AsyncResponse}. */
        RESPONSE;

        /** The name of the type, because a server can have no Jakarta REST. */
        private static final String ASYNC_RESPONSE = "jakarta.ws.rs.container.AsyncResponse";

        public static Asynchrony of(Method method) {
            if (isStage(method.getReturnType())) {
                return STAGE;
            }
            boolean resumes = method.getReturnType() == void.class && position(method.getParameterTypes()) >= 0;
            return resumes ? RESPONSE : NONE;
        }

        /** Tests whether a failed stage can be the result of a method. A subclass of {@link CompletableFuture} has no such object. */
        public static boolean isStage(Class<?> result) {
            return CompletionStage.class.isAssignableFrom(result) && result.isAssignableFrom(CompletableFuture.class);
        }

        /** Returns the position of the parameter with the response, -1 if there is none. */
        public static int position(Class<?>... parameters) {
            return Arrays.stream(parameters).map(Class::getName).toList().indexOf(ASYNC_RESPONSE);
        }
    }
}
