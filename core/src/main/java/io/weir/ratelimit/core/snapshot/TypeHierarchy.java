// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The supertypes of a class, the nearest first, and the methods that override each other in them. */
public final class TypeHierarchy {
    private TypeHierarchy() {}

    /** Returns the class, its superclasses and all their interfaces. */
    public static List<Class<?>> of(Class<?> beanClass) {
        List<Class<?>> types = superclasses(beanClass);
        types.addAll(interfaces(beanClass));
        return types;
    }

    /** Returns the class and its superclasses, without {@link Object}. */
    public static List<Class<?>> superclasses(Class<?> beanClass) {
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
    public static List<Method> methods(Class<?> beanClass) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> type : of(beanClass)) {
            Arrays.stream(type.getDeclaredMethods())
                    .filter(TypeHierarchy::isOverridable)
                    .filter(method -> methods.stream().noneMatch(nearer -> overrides(beanClass, nearer, method)))
                    .forEach(methods::add);
        }
        return methods;
    }

    /** Returns a method and the methods that it overrides or implements. */
    public static List<Method> declarations(Class<?> beanClass, Method method) {
        List<Method> declarations = new ArrayList<>();
        declarations.add(method);
        of(beanClass)
                .forEach(type -> Arrays.stream(type.getDeclaredMethods())
                        .filter(declared -> !declared.equals(method) && overrides(beanClass, method, declared))
                        .forEach(declarations::add));
        return declarations;
    }

    /**
     * Tests whether a method has the same signature as one of a supertype. In a class, both can be inherited: the class then passes the type
     * arguments by which the signatures are the same.
     */
    public static boolean overrides(Class<?> beanClass, Method method, Method other) {
        return isOverridable(other)
                && method.getName().equals(other.getName())
                && method.getParameterCount() == other.getParameterCount()
                && (Arrays.equals(method.getParameterTypes(), other.getParameterTypes())
                        || hasSameParameters(TypeArguments.of(beanClass), method, other));
    }

    private static boolean hasSameParameters(TypeArguments arguments, Method method, Method other) {
        return arguments.parameters(method).equals(arguments.parameters(other));
    }

    private static boolean isOverridable(Method method) {
        return !method.isSynthetic()
                && !Modifier.isPrivate(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers());
    }
}
