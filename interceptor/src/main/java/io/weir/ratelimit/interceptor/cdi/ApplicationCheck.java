// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The check of the policies against a started application, by the classes of beans and those with annotations of this library. A bean can
 * use a {@code RateLimiter} for any policy.
 */
record ApplicationCheck(DeployedApplication application, Set<Class<?>> classes, boolean usesLimiter) {
    /**
     * Returns one message for each warning. The URL patterns of servlets are empty if they are not known. Jersey can serve resources that
     * are not beans, with any policy.
     */
    List<MessageCatalog.Message> warnings(Set<String> mappings, boolean jersey) {
        ResourceOperations resources = new ResourceOperations(application.gate());
        List<ApplicationView.Operation> operations = resources.of(classes);
        return application
                .weir()
                .warnings(new ApplicationView(
                        methods(),
                        operations,
                        mappings,
                        usesLimiter || classes.stream().anyMatch(ApplicationCheck::usesLimiter),
                        jersey || resources.hasLocators()));
    }

    private List<MethodLimits> methods() {
        AnnotationScanner scanner = new AnnotationScanner(application.names(), new Problems());
        return classes.stream()
                .flatMap(type ->
                        TypeHierarchy.methods(type).stream().flatMap(method -> scanner.scan(type, method).stream()))
                .toList();
    }

    /** Tests whether a class, which need not be a bean, refers to a {@code RateLimiter}. */
    private static boolean usesLimiter(Class<?> type) {
        return TypeHierarchy.superclasses(type).stream()
                .anyMatch(each -> Stream.concat(
                                Arrays.stream(each.getDeclaredFields()).map(Field::getGenericType),
                                Stream.<Executable>concat(
                                                Arrays.stream(each.getDeclaredConstructors()),
                                                Arrays.stream(each.getDeclaredMethods()))
                                        .flatMap(executable -> Arrays.stream(executable.getGenericParameterTypes())))
                        .anyMatch(used -> used.getTypeName().contains(RateLimiter.class.getName())));
    }
}
