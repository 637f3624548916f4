// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.interceptor.policy.Problems;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Finds annotations that nothing would ever act upon: on methods of beans that the container does not intercept and that are no
 * resource methods, about which the filter decides. What looks limited and is not must not be deployed.
 */
final class Reachability {
    private final Problems problems;

    Reachability(Problems problems) {
        this.problems = problems;
    }

    void check(Class<?> beanClass) {
        for (Class<?> type : ancestry(beanClass)) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.isAnnotationPresent(RateLimit.class) && !method.isSynthetic()) {
                    check(beanClass, type, method);
                }
            }
        }
    }

    private void check(Class<?> beanClass, Class<?> type, Method method) {
        int modifiers = method.getModifiers();
        boolean hidden = Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers);
        if (hidden || (Modifier.isFinal(modifiers) && !isResourceMethod(beanClass, method))) {
            problems.add(
                    "WEIR-207",
                    type.getName() + "." + method.getName(),
                    "",
                    "is limited, but no interceptor is called for a private, static or final method",
                    "make it an ordinary method, or move the annotation to its caller");
        } else if (type != beanClass && isOverridden(beanClass, type, method) && !isResourceMethod(beanClass, method)) {
            problems.add(
                    "WEIR-208",
                    type.getName() + "." + method.getName(),
                    "",
                    "is limited, but " + beanClass.getName()
                            + " has a method of its own in its place, and CDI does not inherit annotations of methods",
                    "annotate the method of " + beanClass.getSimpleName()
                            + ", @RateLimitExempt if it shall not be limited");
        }
    }

    /** Whether the bean's own method stands in for one of an ancestor without saying itself whether it is limited. */
    private static boolean isOverridden(Class<?> beanClass, Class<?> type, Method method) {
        return RuleReader.candidates(beanClass).stream()
                .anyMatch(own -> own.getDeclaringClass() != type
                        && RuleReader.overrides(own, method)
                        && !RuleReader.saysItself(own)
                        && !RuleReader.saysItself(own.getDeclaringClass()));
    }

    private static boolean isResourceMethod(Class<?> beanClass, Method method) {
        for (Class<?> type : ancestry(beanClass)) {
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

    private static List<Class<?>> ancestry(Class<?> beanClass) {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> type = beanClass; type != null && type != Object.class; type = type.getSuperclass()) {
            types.add(type);
            RuleReader.addInterfaces(types, type);
        }
        return types;
    }
}
