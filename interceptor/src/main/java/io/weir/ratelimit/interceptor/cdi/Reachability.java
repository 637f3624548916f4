// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.decorator.Decorator;
import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.InterceptionFactory;
import jakarta.inject.Inject;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * A check for annotations without effect. They are on bean methods that the container does not intercept and that no filter decides. A
 * deployment with such an annotation fails, because the method would not be limited. An object that a producer creates is a warning only,
 * because the producer can return a bean.
 */
record Reachability(Problems problems) {
    /** The annotations of methods that only the container calls. */
    private static final Set<Class<? extends Annotation>> UNINTERCEPTED =
            Set.of(PostConstruct.class, PreDestroy.class, Inject.class);

    /** Checks the annotated methods of a bean class and of its supertypes, and the annotated interfaces. */
    void check(Class<?> beanClass) {
        if (beanClass.isAnnotationPresent(Decorator.class)) {
            checkDecorator(beanClass);
            return;
        }
        for (Class<?> type : TypeHierarchy.of(beanClass)) {
            for (Method method : type.getDeclaredMethods()) {
                if (AnnotationScanner.hasLimit(method) && !method.isSynthetic()) {
                    check(beanClass, type, method);
                }
            }
        }
        if (isIntercepted(beanClass) && !AnnotationScanner.isAnnotated(beanClass)) {
            TypeHierarchy.of(beanClass).stream()
                    .filter(type -> type.isInterface() && AnnotationScanner.isAnnotated(type))
                    .findFirst()
                    .filter(type -> hasUndecided(beanClass, type))
                    .ifPresent(type -> problems.add(
                            MESSAGES.problem("WEIR-208.interface", type.getName(), "", beanClass.getName())));
        }
    }

    /** The annotations of the interfaces of a decorator are for the beans that it decorates. */
    private void checkDecorator(Class<?> decorator) {
        TypeHierarchy.superclasses(decorator).stream()
                .filter(Reachability::hasLimits)
                .findFirst()
                .ifPresent(type -> problems.add(MESSAGES.problem("WEIR-207.decorator", type.getName(), "")));
    }

    /** Tests whether a type itself or one of its methods has an annotation that limits it. */
    private static boolean hasLimits(Class<?> type) {
        return AnnotationScanner.hasLimit(type)
                || Arrays.stream(type.getDeclaredMethods()).anyMatch(AnnotationScanner::hasLimit);
    }

    /**
     * Tests whether the objects of a producer have limits that CDI does not apply. A filter decides requests of a resource, and the
     * producer itself can let CDI intercept its objects.
     */
    static boolean losesLimits(Class<?> produced, List<Class<?>> parameters) {
        try {
            return !parameters.contains(InterceptionFactory.class)
                    && TypeHierarchy.of(produced).stream().anyMatch(Reachability::hasLimits)
                    && TypeHierarchy.methods(produced).stream()
                            .anyMatch(method -> AnnotationScanner.isLimited(produced, method)
                                    && !ResourceOperations.servesRequests(produced, method));
        } catch (LinkageError e) { // a signature has a type that the application does not contain
            return false;
        }
    }

    /** Checks default methods of interfaces. ArC, the container of Quarkus, ignores the annotations of these methods. */
    void checkDefaultMethods(Class<?> beanClass) {
        if (isIntercepted(beanClass) && !AnnotationScanner.isAnnotated(beanClass)) {
            TypeHierarchy.methods(beanClass).stream()
                    .filter(method -> method.isDefault()
                            && AnnotationScanner.hasLimit(method)
                            && !ResourceOperations.servesRequests(beanClass, method))
                    .forEach(method -> problems.add(MESSAGES.problem(
                            "WEIR-208.default",
                            method.getDeclaringClass().getName() + "." + method.getName(),
                            "",
                            beanClass.getName())));
        }
    }

    /** Returns the places of annotations that an extension of CDI has added. The class itself does not have them. */
    static List<String> added(AnnotatedType<?> bean) {
        Class<?> type = bean.getJavaClass();
        if (bean.isAnnotationPresent(RateLimit.class) && !AnnotationScanner.hasLimit(type)) {
            return List.of(type.getName());
        }
        return bean.getMethods().stream()
                .filter(annotated -> annotated.isAnnotationPresent(RateLimit.class))
                .map(AnnotatedMethod::getJavaMember)
                .filter(method -> !AnnotationScanner.hasLimit(method) && !AnnotationScanner.isLimited(type, method))
                .map(method -> type.getName() + "." + method.getName())
                .toList();
    }

    /** Tests whether CDI intercepts a class: a bean of a REST client is an interface. */
    private static boolean isIntercepted(Class<?> type) {
        return !Modifier.isAbstract(type.getModifiers()) && !type.isAnnotationPresent(Decorator.class);
    }

    /**
     * Tests whether a method is limited by the annotation of an interface only, and no filter decides it. Of a resource, these are the methods
     * of the interface, because others need not be called from outside.
     */
    private static boolean hasUndecided(Class<?> beanClass, Class<?> annotated) {
        List<Method> methods = TypeHierarchy.methods(beanClass);
        boolean resource = methods.stream().anyMatch(method -> ResourceOperations.servesRequests(beanClass, method));
        return methods.stream()
                .filter(method -> AnnotationScanner.isLimited(beanClass, method)
                        && !ResourceOperations.servesRequests(beanClass, method))
                .map(method -> TypeHierarchy.declarations(beanClass, method))
                .filter(declared -> declared.stream().noneMatch(AnnotationScanner::isAnnotated))
                .anyMatch(declared -> !resource
                        || declared.stream()
                                .anyMatch(each -> each.getDeclaringClass().isAssignableFrom(annotated)));
    }

    private void check(Class<?> beanClass, Class<?> type, Method method) {
        String place = type.getName() + "." + method.getName();
        int modifiers = method.getModifiers();
        boolean hidden = Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers);
        if (UNINTERCEPTED.stream().anyMatch(method::isAnnotationPresent)) {
            problems.add(MESSAGES.problem("WEIR-207.container", place, ""));
        } else if (hidden || (Modifier.isFinal(modifiers) && !ResourceOperations.servesRequests(beanClass, method))) {
            problems.add(MESSAGES.problem("WEIR-207", place, ""));
        } else if (type != beanClass
                && isReplaced(beanClass, type, method)
                && !ResourceOperations.servesRequests(beanClass, method)) {
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
}
