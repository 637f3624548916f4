// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.instance.StartSummary;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
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
    private final Resolvers resolvers;
    private final Set<String> policiesOfSources;
    private final ConfigProperties config;
    private final Settings settings;

    /**
     * Creates a check.
     *
     * @param beanClasses the classes that were checked with the beans
     * @param policiesOfSources the policies with a source of limits for single keys
     * @param config the configuration of the deployment
     */
    ResourceCheck(
            Set<Class<?>> beanClasses,
            Resolvers resolvers,
            Set<String> policiesOfSources,
            ConfigProperties config,
            Settings settings) {
        this.beanClasses = Set.copyOf(beanClasses);
        this.resolvers = resolvers;
        this.policiesOfSources = Set.copyOf(policiesOfSources);
        this.config = config;
        this.settings = settings;
    }

    /**
     * Checks the resources among the classes of a REST application, and logs their policies.
     *
     * @throws DeploymentException with all problems
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
        // The policies of beans are part of the check, because a resource can define a policy of the same name.
        PolicySnapshot snapshot = AnnotationScanner.loader(all, names, resolvers, policiesOfSources, problems)
                .load(config, problems);
        if (!problems.found().isEmpty()) {
            throw new DeploymentException(problems.message());
        }
        PolicySnapshotLoader loader =
                AnnotationScanner.loader(new LinkedHashSet<>(resources), names, resolvers, policiesOfSources, problems);
        if (settings.enabled() && !loader.methods().isEmpty()) {
            MESSAGES.message("WEIR-001.resources")
                    .withLines(new StartSummary(settings, snapshot, loader.methods()).policiesOfMethods())
                    .log(LOG);
        }
    }

    private static boolean isResource(Class<?> type) {
        return TypeHierarchy.of(type).stream().anyMatch(each -> each.isAnnotationPresent(Path.class));
    }
}
