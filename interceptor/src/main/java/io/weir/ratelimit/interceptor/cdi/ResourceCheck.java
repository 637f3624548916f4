// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import jakarta.enterprise.inject.spi.DeploymentException;
import jakarta.ws.rs.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A check of resource classes that are not beans. CDI does not see them, so the check takes place when Jakarta REST is configured, which
 * is after the deployment of the beans.
 */
final class ResourceCheck {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final Set<Class<?>> beanClasses;
    private final HostedWeir weir;

    /** Creates a check. */
    ResourceCheck(Set<Class<?>> beanClasses, HostedWeir weir) {
        this.beanClasses = Set.copyOf(beanClasses);
        this.weir = weir;
    }

    /**
     * Checks the resources among the classes of a REST application, and logs their policies. Throws a {@link DeploymentException} with all
     * problems.
     */
    void check(Collection<Class<?>> classes) {
        List<Class<?>> resources = classes.stream()
                .filter(type -> !beanClasses.contains(type) && isResource(type))
                .toList();
        if (resources.isEmpty()) {
            return;
        }
        Problems problems = new Problems();
        Set<Class<?>> all = new LinkedHashSet<>(beanClasses);
        all.addAll(resources);
        MethodNames names = MethodNames.of(all);
        try {
            // The policies of beans are part of the check, because a resource can define a policy of the same name.
            List<String> policies = weir.check(
                    AnnotationScanner.methods(all, Set.of(), names, problems),
                    AnnotationScanner.methods(new LinkedHashSet<>(resources), Set.of(), names, new Problems()),
                    problems);
            if (!policies.isEmpty()) {
                MESSAGES.message("WEIR-001.resources").withLines(policies).log(LOG);
            }
        } catch (InvalidConfigurationException e) {
            throw new DeploymentException(e.getMessage(), e);
        }
    }

    private static boolean isResource(Class<?> type) {
        return TypeHierarchy.of(type).stream().anyMatch(each -> each.isAnnotationPresent(Path.class));
    }
}
