// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * A check for annotations without effect. They are on bean methods that the container does not intercept and that no filter decides. A
 * deployment with such an annotation fails, because the method would not be limited.
 */
final class Reachability {
    private final Problems problems;

    Reachability(Problems problems) {
        this.problems = problems;
    }

    /** Checks the annotated methods of a bean class and of its supertypes. */
    void check(Class<?> beanClass) {
        for (Class<?> type : TypeHierarchy.of(beanClass)) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.isAnnotationPresent(RateLimit.class) && !method.isSynthetic()) {
                    check(beanClass, type, method);
                }
            }
        }
    }

    private void check(Class<?> beanClass, Class<?> type, Method method) {
        String place = type.getName() + "." + method.getName();
        int modifiers = method.getModifiers();
        boolean hidden = Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers);
        if (hidden || (Modifier.isFinal(modifiers) && !isResourceMethod(beanClass, method))) {
            problems.add(MESSAGES.problem("WEIR-207", place, ""));
        } else if (type != beanClass && isReplaced(beanClass, type, method) && !isResourceMethod(beanClass, method)) {
            problems.add(MESSAGES.problem("WEIR-208", place, "", beanClass.getName()));
        }
    }

    /**
     * Tests whether a nearer method without annotations overrides the method of a supertype. The annotations of the bean class apply to all
     * of its methods, declared or inherited.
     */
    private static boolean isReplaced(Class<?> beanClass, Class<?> type, Method method) {
        return !AnnotationScanner.isAnnotated(beanClass)
                && TypeHierarchy.methods(beanClass).stream()
                        .anyMatch(nearer -> nearer.getDeclaringClass() != type
                                && TypeHierarchy.overrides(beanClass, nearer, method)
                                && !AnnotationScanner.isAnnotated(nearer));
    }

    /** Tests whether a method serves requests. */
    static boolean isResourceMethod(Class<?> beanClass, Method method) {
        for (Class<?> type : TypeHierarchy.of(beanClass)) {
            if (type.isAnnotationPresent(Path.class)
                    || Arrays.stream(type.getDeclaredMethods())
                            .filter(other -> other.getName().equals(method.getName()))
                            .anyMatch(Reachability::isAnnotatedForRest)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAnnotatedForRest(AnnotatedElement element) {
        return Arrays.stream(element.getAnnotations())
                .map(Annotation::annotationType)
                .anyMatch(type -> type == Path.class || type.isAnnotationPresent(HttpMethod.class));
    }
}
