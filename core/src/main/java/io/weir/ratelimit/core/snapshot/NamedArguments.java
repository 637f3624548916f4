// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.Map;

/** The arguments of a method that key expressions use, by the names of {@link RateLimitKey}. */
final class NamedArguments {
    private NamedArguments() {}

    /** Returns the positions of the named parameters. The annotation can be on a method that this one overrides. */
    static Map<String, Integer> of(Class<?> beanClass, Method method) {
        Map<String, Integer> positions = new LinkedHashMap<>();
        for (Method declaration : TypeHierarchy.declarations(beanClass, method)) {
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

    /** Checks the arguments of a key. All callers share a key without its argument, and no callers share one without a text. */
    static void check(Class<?> beanClass, Method method, Policy policy, Problems problems) {
        Map<String, Integer> positions = of(beanClass, method);
        String place = beanClass.getName() + "." + method.getName();
        for (String name : policy.key().arguments()) {
            Integer position = positions.get(name);
            if (position == null) {
                problems.add(
                        MESSAGES.problem("WEIR-209", place, "arg:" + name, policy.name(), name, positions.keySet()));
            } else if (!hasText(method.getParameterTypes()[position])) {
                problems.add(MESSAGES.problem(
                        "WEIR-210", place, "arg:" + name, method.getParameterTypes()[position].getSimpleName()));
            }
        }
    }

    /** Tests whether the values of a type can have a text. The class of a value decides, if the type is not its class. */
    private static boolean hasText(Class<?> type) {
        boolean open = type.isInterface() || type == Object.class || Modifier.isAbstract(type.getModifiers());
        return (open && !type.isArray()) || KeyTerms.hasText(type);
    }
}
