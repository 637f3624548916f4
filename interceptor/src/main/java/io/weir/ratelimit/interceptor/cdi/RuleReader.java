// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.interceptor.policy.InPlace;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Problems;
import jakarta.enterprise.inject.Stereotype;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads what annotations say about a method. The nearest wins: the method, a method it overrides or implements, the class with
 * the classes it inherits annotations from, its interfaces.
 */
final class RuleReader {
    private final Problems problems;

    RuleReader(Problems problems) {
        this.problems = problems;
    }

    /** The methods of a class that can be limited, without those that a nearer one overrides. */
    static List<Method> candidates(Class<?> beanClass) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> type : types(beanClass)) {
            Arrays.stream(type.getDeclaredMethods())
                    .filter(RuleReader::canBeOverridden)
                    .filter(method -> methods.stream().noneMatch(nearer -> overrides(nearer, method)))
                    .forEach(methods::add);
        }
        return methods;
    }

    /** What is said about a method, empty if it is not limited. */
    Optional<MethodRule> read(Class<?> beanClass, Method method) {
        for (AnnotatedElement element : nearestFirst(beanClass, method)) {
            RateLimit limit = limitOn(element, beanClass);
            boolean exempt = element.getDeclaredAnnotation(RateLimitExempt.class) != null;
            if (exempt && element.getDeclaredAnnotation(RateLimit.class) != null) {
                problems.add(
                        "WEIR-201",
                        place(beanClass, method),
                        "",
                        "has both @RateLimit and @RateLimitExempt",
                        "keep one of them");
            }
            if (exempt) {
                return Optional.empty();
            }
            if (limit != null) {
                return Optional.of(rule(beanClass, method, limit));
            }
        }
        return Optional.empty();
    }

    /** Whether a method is not to be limited, whatever a path rule says. */
    boolean isExempt(Class<?> beanClass, Method method) {
        return nearestFirst(beanClass, method).stream()
                .filter(element -> saysItself(element))
                .findFirst()
                .filter(element -> element.getDeclaredAnnotation(RateLimitExempt.class) != null)
                .isPresent();
    }

    private MethodRule rule(Class<?> beanClass, Method method, RateLimit limit) {
        String endpoint = beanClass.getSimpleName() + "." + method.getName();
        String place = place(beanClass, method);
        List<String> names = Arrays.stream(limit.value()).distinct().toList();
        boolean defines =
                !limit.limit().isEmpty() || !limit.key().isEmpty() || limit.algorithm() != Algorithm.SLIDING_WINDOW;
        if (limit.cost() < 0) {
            problems.add(
                    "WEIR-202",
                    place,
                    "cost = " + limit.cost(),
                    "a cost is at least 1",
                    "leave it out, or set 0, for the policy's cost");
        }
        if (names.size() > 1 && defines) {
            problems.add(
                    "WEIR-203",
                    place,
                    names.toString(),
                    "defines limits in place under several policy names",
                    "name one policy, or move the limits to ratelimit.policies.<name>");
        }
        String policy = names.isEmpty() ? endpoint : names.get(0);
        Optional<InPlace> inPlace = names.size() <= 1 && (defines || names.isEmpty())
                ? Optional.of(new InPlace(place, policy, limit.limit(), limit.key(), limit.algorithm()))
                : Optional.empty();
        return new MethodRule(endpoint, names.isEmpty() ? List.of(policy) : names, Math.max(0, limit.cost()), inPlace);
    }

    private static List<AnnotatedElement> nearestFirst(Class<?> beanClass, Method method) {
        List<AnnotatedElement> elements = new ArrayList<>(declarations(beanClass, method));
        elements.addAll(superclasses(beanClass));
        elements.addAll(interfaces(beanClass));
        return elements;
    }

    /** A method and those that it overrides or implements, the nearest first. */
    static List<Method> declarations(Class<?> beanClass, Method method) {
        List<Method> declarations = new ArrayList<>();
        declarations.add(method);
        superclasses(beanClass).forEach(type -> addSame(declarations, type, method));
        interfaces(beanClass).forEach(type -> addSame(declarations, type, method));
        return declarations;
    }

    /** A class, its superclasses and all their interfaces, the nearest first. */
    static List<Class<?>> types(Class<?> beanClass) {
        List<Class<?>> types = superclasses(beanClass);
        types.addAll(interfaces(beanClass));
        return types;
    }

    private static List<Class<?>> superclasses(Class<?> beanClass) {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> type = beanClass; type != null && type != Object.class; type = type.getSuperclass()) {
            types.add(type);
        }
        return types;
    }

    private static List<Class<?>> interfaces(Class<?> beanClass) {
        List<Class<?>> interfaces = new ArrayList<>();
        superclasses(beanClass).forEach(type -> addInterfaces(interfaces, type));
        return interfaces;
    }

    private static void addSame(List<Method> elements, Class<?> type, Method method) {
        Arrays.stream(type.getDeclaredMethods())
                .filter(declared -> !declared.equals(method) && overrides(method, declared))
                .forEach(elements::add);
    }

    static void addInterfaces(List<Class<?>> interfaces, Class<?> type) {
        for (Class<?> one : type.getInterfaces()) {
            if (!interfaces.contains(one)) {
                interfaces.add(one);
                addInterfaces(interfaces, one);
            }
        }
    }

    static boolean overrides(Method method, Method other) {
        return canBeOverridden(other)
                && method.getName().equals(other.getName())
                && (Arrays.equals(method.getParameterTypes(), other.getParameterTypes()) || isBridged(method, other));
    }

    private static boolean canBeOverridden(Method method) {
        return !method.isSynthetic()
                && !Modifier.isPrivate(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers());
    }

    /** Whether a method takes the place of one with type parameters: then a bridge in its class has the types of that one. */
    private static boolean isBridged(Method method, Method other) {
        Class<?>[] narrow = method.getParameterTypes();
        Class<?>[] wide = other.getParameterTypes();
        return narrow.length == wide.length
                && IntStream.range(0, narrow.length).allMatch(i -> wide[i].isAssignableFrom(narrow[i]))
                && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                        .anyMatch(bridge -> bridge.isBridge()
                                && bridge.getName().equals(other.getName())
                                && Arrays.equals(bridge.getParameterTypes(), wide));
    }

    /** Whether an element says by itself that it is limited or exempt. */
    static boolean saysItself(AnnotatedElement element) {
        return element.isAnnotationPresent(RateLimitExempt.class)
                || element.isAnnotationPresent(RateLimit.class)
                || limitOn(element, new HashSet<>()) != null;
    }

    /**
     * The annotation on an element itself, or on one of its stereotypes and interceptor bindings. Those of a superclass are
     * the bean class's only where it inherits them.
     */
    private static @Nullable RateLimit limitOn(AnnotatedElement element, Class<?> beanClass) {
        boolean superclass = element instanceof Class<?> type && type != beanClass && !type.isInterface();
        return superclass ? element.getDeclaredAnnotation(RateLimit.class) : limitOn(element, new HashSet<>());
    }

    private static @Nullable RateLimit limitOn(AnnotatedElement element, Set<Class<?>> seen) {
        RateLimit direct = element.getDeclaredAnnotation(RateLimit.class);
        if (direct != null) {
            return direct;
        }
        for (Annotation annotation : element.getAnnotations()) {
            Class<? extends Annotation> type = annotation.annotationType();
            boolean carries =
                    type.isAnnotationPresent(Stereotype.class) || type.isAnnotationPresent(InterceptorBinding.class);
            if (carries && seen.add(type)) {
                RateLimit carried = limitOn(type, seen);
                if (carried != null) {
                    return carried;
                }
            }
        }
        return null;
    }

    private static String place(Class<?> beanClass, Method method) {
        return Stream.of(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", beanClass.getName() + "." + method.getName() + "(", ")"));
    }
}
