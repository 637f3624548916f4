// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The operations of resource classes, and of the sub-resources that their locators declare. */
final class ResourceOperations {
    /** A name in braces, with an optional regular expression, which can contain braces. */
    private static final Pattern PARAMETER = Pattern.compile("\\{\\s*([\\w.-]+)\\s*(?::(?:[^{}]|\\{[^{}]*\\})*)?\\}");

    private final RateLimitGate gate;
    private final List<ApplicationView.Operation> found = new ArrayList<>();
    private boolean locators;

    ResourceOperations(RateLimitGate gate) {
        this.gate = gate;
    }

    List<ApplicationView.Operation> of(Collection<Class<?>> classes) {
        for (Class<?> type : classes) {
            root(type).ifPresent(root -> collect(type, template(root.value()), new HashSet<>()));
        }
        return List.copyOf(found);
    }

    /** Tests whether a resource has a locator, which can return a sub-resource of a class that it does not declare. */
    boolean hasLocators() {
        return locators;
    }

    static Optional<Path> root(Class<?> type) {
        return TypeHierarchy.of(type).stream()
                .map(each -> each.getDeclaredAnnotation(Path.class))
                .filter(Objects::nonNull)
                .findFirst();
    }

    /** Collects operations. A class is entered once on each path, because a sub-resource can locate itself. */
    private void collect(Class<?> type, String path, Set<Class<?>> entered) {
        if (!entered.add(type)) {
            return;
        }
        for (Method method : TypeHierarchy.methods(type)) {
            TypeHierarchy.declarations(type, method).stream()
                    .filter(ResourceOperations::isForRest)
                    .findFirst()
                    .ifPresent(declared -> collect(type, method, declared, path, entered));
        }
        entered.remove(type);
    }

    private void collect(Class<?> type, Method method, Method declared, String path, Set<Class<?>> entered) {
        Path own = declared.getAnnotation(Path.class);
        String full = own == null ? path : path + template(own.value());
        List<String> verbs = httpMethods(declared);
        if (verbs.isEmpty()) {
            locators = true;
            collect(method.getReturnType(), full, entered);
        }
        verbs.forEach(verb -> found.add(new ApplicationView.Operation(
                verb, full, gate.method(type, method).binding())));
    }

    /** Tests whether a method serves requests, so that a filter decides its calls. It does not decide those of a locator. */
    static boolean servesRequests(Class<?> type, Method method) {
        return TypeHierarchy.declarations(type, method).stream()
                .anyMatch(declared -> !httpMethods(declared).isEmpty());
    }

    /** Tests whether a method of a resource serves requests or locates a sub-resource. */
    static boolean isForRest(Class<?> type, Method method) {
        return TypeHierarchy.declarations(type, method).stream().anyMatch(ResourceOperations::isForRest);
    }

    private static boolean isForRest(AnnotatedElement element) {
        return element.isAnnotationPresent(Path.class) || !httpMethods(element).isEmpty();
    }

    private static List<String> httpMethods(AnnotatedElement element) {
        return Arrays.stream(element.getAnnotations())
                .map(annotation -> annotation.annotationType().getAnnotation(HttpMethod.class))
                .filter(Objects::nonNull)
                .map(HttpMethod::value)
                .toList();
    }

    /** Normalizes a path template: {@code orders/{id: [0-9]{4}}/} becomes {@code /orders/{id}}. */
    static String template(String annotated) {
        String named = PARAMETER.matcher(annotated).replaceAll("{$1}");
        String text = ("/" + named).replaceAll("/+", "/");
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }
}
