// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The supertypes of a class, the nearest first, and the methods that override each other in them. */
final class TypeHierarchy {
    private TypeHierarchy() {}

    /** Returns the class, its superclasses and all their interfaces. */
    static List<Class<?>> of(Class<?> beanClass) {
        List<Class<?>> types = superclasses(beanClass);
        types.addAll(interfaces(beanClass));
        return types;
    }

    /** Returns the class and its superclasses, without {@link Object}. */
    static List<Class<?>> superclasses(Class<?> beanClass) {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> type = beanClass; type != null && type != Object.class; type = type.getSuperclass()) {
            types.add(type);
        }
        return types;
    }

    /** Returns all interfaces of the class and of its superclasses. */
    static List<Class<?>> interfaces(Class<?> beanClass) {
        List<Class<?>> interfaces = new ArrayList<>();
        superclasses(beanClass).forEach(type -> addInterfaces(interfaces, type));
        return interfaces;
    }

    private static void addInterfaces(List<Class<?>> interfaces, Class<?> type) {
        for (Class<?> each : type.getInterfaces()) {
            if (!interfaces.contains(each)) {
                interfaces.add(each);
                addInterfaces(interfaces, each);
            }
        }
    }

    /** Returns the methods of a class that can be limited, without those that a nearer method overrides. */
    static List<Method> methods(Class<?> beanClass) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> type : of(beanClass)) {
            Arrays.stream(type.getDeclaredMethods())
                    .filter(TypeHierarchy::isOverridable)
                    .filter(method -> methods.stream().noneMatch(nearer -> overrides(nearer, method)))
                    .forEach(methods::add);
        }
        return methods;
    }

    /** Returns a method and the methods that it overrides or implements. */
    static List<Method> declarations(Class<?> beanClass, Method method) {
        List<Method> declarations = new ArrayList<>();
        declarations.add(method);
        of(beanClass)
                .forEach(type -> Arrays.stream(type.getDeclaredMethods())
                        .filter(declared -> !declared.equals(method) && overrides(method, declared))
                        .forEach(declarations::add));
        return declarations;
    }

    /** Tests whether a method has the same signature as one of a supertype. */
    static boolean overrides(Method method, Method other) {
        return isOverridable(other)
                && method.getName().equals(other.getName())
                && (Arrays.equals(method.getParameterTypes(), other.getParameterTypes()) || isBridged(method, other));
    }

    private static boolean isOverridable(Method method) {
        return !method.isSynthetic()
                && !Modifier.isPrivate(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers());
    }

    /** Tests whether a method overrides a generic one. Its class then has a bridge method with the types of the generic one. */
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
}
