// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The arguments that a class and its supertypes pass to the type parameters of their supertypes. A parameter of a raw supertype has none.
 */
record TypeArguments(Map<TypeVariable<?>, Type> arguments) {
    static TypeArguments of(Class<?> type) {
        Map<TypeVariable<?>, Type> arguments = new HashMap<>();
        addSupertypes(arguments, type);
        return new TypeArguments(arguments);
    }

    private static void addSupertypes(Map<TypeVariable<?>, Type> arguments, Class<?> type) {
        if (type.getGenericSuperclass() != null) {
            add(arguments, type.getGenericSuperclass());
        }
        Arrays.stream(type.getGenericInterfaces()).forEach(each -> add(arguments, each));
    }

    private static void add(Map<TypeVariable<?>, Type> arguments, Type supertype) {
        Class<?> raw = raw(supertype);
        if (supertype instanceof ParameterizedType parameterized) {
            TypeVariable<?>[] parameters = raw.getTypeParameters();
            for (int i = 0; i < parameters.length; i++) {
                arguments.put(parameters[i], parameterized.getActualTypeArguments()[i]);
            }
        }
        addSupertypes(arguments, raw);
    }

    private static Class<?> raw(Type type) {
        return (Class<?>) (type instanceof ParameterizedType parameterized ? parameterized.getRawType() : type);
    }

    /** Returns the classes of the parameters that a method of the class or of a supertype has in the class. */
    List<Class<?>> parameters(Method method) {
        return Arrays.<Type>stream(method.getGenericParameterTypes())
                .<Class<?>>map(this::erased)
                .toList();
    }

    private Class<?> erased(Type type) {
        if (type instanceof TypeVariable<?> variable) {
            Type argument = arguments.get(variable);
            return erased(argument != null ? argument : variable.getBounds()[0]);
        }
        if (type instanceof GenericArrayType array) {
            return erased(array.getGenericComponentType()).arrayType();
        }
        return type instanceof WildcardType wildcard ? erased(wildcard.getUpperBounds()[0]) : raw(type);
    }
}
