// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import jakarta.enterprise.inject.Stereotype;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A scanner for the annotations of a method. The nearest annotation applies. The order is: the method, the methods that it overrides or
 * implements, the class and its superclasses, the interfaces. The annotation of a type does not apply to the methods of {@link Object}.
 */
record AnnotationScanner(MethodNames names, Problems problems) implements AnnotatedMethods.Scanner {
    static boolean isLimited(Class<?> beanClass, Method method) {
        return nearest(beanClass, method).filter(element -> !isExempt(element)).isPresent();
    }

    /** Returns the limited methods of bean classes. Annotations without effect are problems. */
    static AnnotatedMethods methods(
            Set<Class<?>> beanClasses, Set<Class<?>> managed, MethodNames names, Problems problems) {
        return new AnnotatedMethods(
                new AnnotationScanner(names, problems).scan(beanClasses),
                new AnnotationScanner(names, new Problems()),
                managed);
    }

    List<AnnotatedMethods.Limited> scan(Set<Class<?>> beanClasses) {
        Reachability reachability = new Reachability(problems);
        List<AnnotatedMethods.Limited> methods = new ArrayList<>();
        for (Class<?> beanClass : beanClasses) {
            reachability.check(beanClass);
            for (Method method : TypeHierarchy.methods(beanClass)) {
                scan(beanClass, method).ifPresent(limits -> {
                    AnnotatedMethods.Limited limited = new AnnotatedMethods.Limited(
                            beanClass, method, limits, ResourceOperations.servesRequests(beanClass, method));
                    limited.check(problems);
                    methods.add(limited);
                });
            }
        }
        return methods;
    }

    @Override
    public Optional<MethodLimits> scan(Class<?> beanClass, Method method) {
        Optional<AnnotatedElement> nearest = nearest(beanClass, method);
        if (nearest.filter(AnnotationScanner::isExempt).isEmpty()) {
            return nearest.map(element -> limitOn(element, beanClass)).map(limit -> limits(beanClass, method, limit));
        }
        if (nearest.get().getDeclaredAnnotation(RateLimit.class) != null) {
            problems.add(MESSAGES.problem("WEIR-201", place(beanClass, method), ""));
        }
        return Optional.empty();
    }

    @Override
    public boolean isExempt(Class<?> beanClass, Method method) {
        return nearest(beanClass, method).filter(AnnotationScanner::isExempt).isPresent();
    }

    private MethodLimits limits(Class<?> beanClass, Method method, RateLimit limit) {
        MethodLimits.Name name = names.of(beanClass, method);
        String place = place(beanClass, method);
        List<String> policies = Arrays.stream(limit.value()).distinct().toList();
        boolean definesPolicy =
                !limit.limit().isEmpty() || !limit.key().isEmpty() || limit.algorithm() != Algorithm.SLIDING_WINDOW;
        if (limit.cost() < 0) {
            problems.add(MESSAGES.problem("WEIR-202", place, "cost = " + limit.cost()));
        }
        if (policies.size() > 1 && definesPolicy) {
            problems.add(MESSAGES.problem("WEIR-203", place, policies.toString()));
        }
        String policy = policies.isEmpty() ? name.simple() : policies.get(0);
        Optional<MethodLimits.InlinePolicy> inlinePolicy = policies.size() <= 1 && (definesPolicy || policies.isEmpty())
                ? Optional.of(
                        new MethodLimits.InlinePolicy(place, policy, limit.limit(), limit.key(), limit.algorithm()))
                : Optional.empty();
        return new MethodLimits(
                name, policies.isEmpty() ? List.of(policy) : policies, Math.max(0, limit.cost()), inlinePolicy);
    }

    /** Returns the nearest element with an annotation that limits the method or makes it exempt. */
    private static Optional<AnnotatedElement> nearest(Class<?> beanClass, Method method) {
        boolean inherits = !isOfObject(method) || ResourceOperations.servesRequests(beanClass, method);
        return Stream.<AnnotatedElement>concat(
                        TypeHierarchy.declarations(beanClass, method).stream(),
                        inherits ? TypeHierarchy.of(beanClass).stream() : Stream.empty())
                .filter(element -> isExempt(element) || limitOn(element, beanClass) != null)
                .findFirst();
    }

    private static boolean isExempt(AnnotatedElement element) {
        return element.getDeclaredAnnotation(RateLimitExempt.class) != null;
    }

    /** Tests for an override of {@code equals}, {@code hashCode} or {@code toString}: collections and logs call it, and not a user. */
    private static boolean isOfObject(Method method) {
        return switch (method.getName()) {
            case "hashCode", "toString" -> method.getParameterCount() == 0;
            case "equals" -> Arrays.equals(method.getParameterTypes(), new Class<?>[] {Object.class});
            default -> false;
        };
    }

    /** Tests whether an element itself has an annotation that limits it or makes it exempt. */
    static boolean isAnnotated(AnnotatedElement element) {
        return element.isAnnotationPresent(RateLimitExempt.class) || hasLimit(element);
    }

    /** Tests whether an element itself has an annotation that limits it. */
    static boolean hasLimit(AnnotatedElement element) {
        return element.isAnnotationPresent(RateLimit.class)
                || (!element.isAnnotationPresent(RateLimitExempt.class) && limitOn(element, new HashSet<>()) != null);
    }

    /**
     * Returns the annotation of an element, of its stereotypes or of its interceptor bindings. Those of a superclass belong to the
     * bean class only if the class inherits them.
     */
    private static @Nullable RateLimit limitOn(AnnotatedElement element, Class<?> beanClass) {
        boolean superclass = element instanceof Class<?> type && type != beanClass && !type.isInterface();
        return superclass ? element.getDeclaredAnnotation(RateLimit.class) : limitOn(element, new HashSet<>());
    }

    private static @Nullable RateLimit limitOn(AnnotatedElement element, Set<Class<?>> visited) {
        RateLimit direct = element.getDeclaredAnnotation(RateLimit.class);
        if (direct != null) {
            return direct;
        }
        return Arrays.stream(element.getAnnotations())
                .<Class<?>>map(Annotation::annotationType)
                .filter(type -> type.isAnnotationPresent(Stereotype.class)
                        || type.isAnnotationPresent(InterceptorBinding.class))
                .filter(visited::add)
                .flatMap(type -> Stream.ofNullable(limitOn(type, visited)))
                .findFirst()
                .orElse(null);
    }

    private static String place(Class<?> beanClass, Method method) {
        return Stream.of(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", beanClass.getName() + "." + method.getName() + "(", ")"));
    }
}
