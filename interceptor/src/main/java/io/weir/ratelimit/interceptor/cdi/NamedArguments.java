// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Problems;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where the arguments of a method are that key expressions use, by the names of {@link RateLimitKey}. */
final class NamedArguments {
    private NamedArguments() {}

    /** The positions of the named parameters of a method; the annotation may also stand on a method that it overrides. */
    static Map<String, Integer> of(Class<?> beanClass, Method method) {
        Map<String, Integer> positions = new LinkedHashMap<>();
        for (Method declaration : RuleReader.declarations(beanClass, method)) {
            Parameter[] parameters = declaration.getParameters();
            for (int i = 0; i < parameters.length; i++) {
                RateLimitKey key = parameters[i].getAnnotation(RateLimitKey.class);
                if (key != null) {
                    positions.putIfAbsent(key.value(), i);
                }
            }
        }
        return Map.copyOf(positions);
    }

    /** Without its argument a key would be shared by all callers, or, for want of a text, by none. */
    static void check(Class<?> beanClass, Method method, Policy policy, Problems problems) {
        Map<String, Integer> positions = of(beanClass, method);
        String place = beanClass.getName() + "." + method.getName();
        for (String name : policy.key().arguments()) {
            Integer position = positions.get(name);
            if (position == null) {
                problems.add(
                        "WEIR-209",
                        place,
                        "arg:" + name,
                        "the key of the policy " + policy.name() + " uses an argument that the method does not name",
                        "mark the parameter @RateLimitKey(\"" + name + "\"); named are " + positions.keySet());
            } else if (!hasText(method.getParameterTypes()[position])) {
                problems.add(
                        "WEIR-210",
                        place,
                        "arg:" + name,
                        "its type " + method.getParameterTypes()[position].getSimpleName()
                                + " has no text of its value: equal arguments would be different keys",
                        "use a text, a number or a type with a toString of its own");
            }
        }
    }

    private static boolean hasText(Class<?> type) {
        if (type.isArray()) {
            return false;
        }
        if (type.isPrimitive()
                || type.isInterface()
                || type == Object.class
                || Modifier.isAbstract(type.getModifiers())) {
            return true;
        }
        try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("every class has toString", e);
        }
    }
}
