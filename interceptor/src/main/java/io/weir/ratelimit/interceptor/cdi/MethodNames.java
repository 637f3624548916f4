// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The names of the methods of a deployment, as keys, costs, metrics and messages use them. A method has the first of these names that no
 * other method has: {@code Class.method}, the same with the package, and with the types of the parameters.
 *
 * <p>A method of a class that the deployment does not know, such as that of a sub-resource without annotations, gets its name at its first
 * call: the first one that no known method has.
 */
public final class MethodNames {
    /** A method of a bean class, which can inherit it. */
    record Called(Class<?> beanClass, Method method) {
        /** Returns all names of the method, the shortest first. */
        List<String> forms() {
            String name = "." + method.getName();
            String qualified = beanClass.getName() + name;
            return List.of(
                    beanClass.getSimpleName() + name,
                    qualified,
                    qualified + parameters(Class::getSimpleName),
                    qualified + parameters(Class::getTypeName));
        }

        private String parameters(Function<Class<?>, String> text) {
            return Arrays.stream(method.getParameterTypes()).map(text).collect(Collectors.joining(",", "(", ")"));
        }
    }

    private final Map<Called, MethodLimits.Name> names = new ConcurrentHashMap<>();

    /** All forms of the known methods. Guarded by this. */
    private final Set<String> used = new HashSet<>();

    private final Map<String, Set<String>> ambiguous = new TreeMap<>();
    private final Set<Called> deployed = new LinkedHashSet<>();

    private MethodNames(Set<Called> limited, Set<Called> others) {
        Map<String, Integer> counts = new HashMap<>();
        add(limited, counts);
        names.values().stream()
                .filter(MethodLimits.Name::isQualified)
                .forEach(name -> ambiguous
                        .computeIfAbsent(name.simple(), first -> new TreeSet<>())
                        .add(name.text()));
        // A method without annotations does not change the name of a limited one.
        add(others, counts);
    }

    private void add(Set<Called> methods, Map<String, Integer> counts) {
        methods.forEach(method -> new HashSet<>(method.forms()).forEach(form -> counts.merge(form, 1, Integer::sum)));
        deployed.addAll(methods);
        methods.forEach(method -> {
            List<String> forms = method.forms();
            names.put(method, name(forms, form -> counts.getOrDefault(form, 0) == 1));
            used.addAll(forms);
        });
    }

    /** Creates the names of the methods of beans and of the classes with annotations of this library. */
    public static MethodNames of(Collection<Class<?>> classes) {
        Set<Called> limited = new LinkedHashSet<>();
        Set<Called> others = new LinkedHashSet<>();
        for (Class<?> type : classes) {
            boolean resource = ResourceOperations.root(type).isPresent();
            for (Method method : TypeHierarchy.methods(type)) {
                if (AnnotationScanner.isLimited(type, method)) {
                    limited.add(new Called(type, method));
                } else if (resource && ResourceOperations.isForRest(type, method)) {
                    others.add(new Called(type, method));
                }
            }
        }
        return new MethodNames(limited, others);
    }

    private static MethodLimits.Name name(List<String> forms, Predicate<String> isOwn) {
        return new MethodLimits.Name(
                forms.stream().filter(isOwn).findFirst().orElse(forms.get(forms.size() - 1)), forms);
    }

    /** Returns the name of a method of a class, not of its proxy, which does not change. */
    public MethodLimits.Name of(Class<?> beanClass, Method method) {
        Called called = new Called(beanClass, method);
        MethodLimits.Name known = names.get(called);
        return known != null ? known : late(called);
    }

    private synchronized MethodLimits.Name late(Called called) {
        return names.computeIfAbsent(called, unknown -> {
            List<String> forms = unknown.forms();
            MethodLimits.Name name = name(forms, form -> !used.contains(form));
            used.addAll(forms);
            return name;
        });
    }

    /** Returns one class of each class loader that has known methods, except that of this library. */
    List<Class<?>> ofOtherLoaders() {
        Map<ClassLoader, Class<?>> classes = new LinkedHashMap<>();
        deployed.stream()
                .map(Called::beanClass)
                .filter(type ->
                        type.getClassLoader() != null && type.getClassLoader() != MethodNames.class.getClassLoader())
                .forEach(type -> classes.putIfAbsent(type.getClassLoader(), type));
        return List.copyOf(classes.values());
    }

    /** Returns the simple names that several limited methods have, each with the names of these methods. */
    Map<String, Set<String>> ambiguous() {
        return ambiguous;
    }
}
