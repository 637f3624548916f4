// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.spi.DeploymentException;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The limiter of an application in a CDI container, beside the request path, which is the {@linkplain #gate() gate}. */
public final class DeployedApplication {
    private final HostedWeir weir;
    private final CdiPlatform platform;
    private final RateLimitGate gate;
    private final RequestStates states;

    private DeployedApplication(HostedWeir weir, CdiPlatform platform) {
        this.weir = weir;
        this.platform = platform;
        this.states = new RequestStates(platform.manager());
        this.gate = weir.gate(states);
    }

    /** Deploys an application. Throws an {@link InvalidConfigurationException} with all problems if the configuration is invalid. */
    public static DeployedApplication on(CdiPlatform platform) {
        HostedWeir weir = HostedWeir.on(platform);
        DeployedApplication application = new DeployedApplication(weir, platform);
        platform.gate(application.gate);
        if (weir.settings().enabled()) {
            logNames(platform.discovered().names());
            if (platform.hasForwardedPeers()
                    && !weir.settings().trustedProxies().isEmpty()) {
                MESSAGES.log("WEIR-039");
            }
        }
        return application;
    }

    private static void logNames(MethodNames names) {
        List<Class<?>> others = names.ofOtherLoaders();
        if (others.size() > 1) {
            MESSAGES.log("WEIR-037", others.stream().map(Class::getName).toList());
        }
        names.ambiguous().forEach((name, methods) -> MESSAGES.log("WEIR-036", name, methods));
    }

    /** Returns the limited methods of annotated classes for Quarkus. They need no configuration. */
    public static List<AnnotatedMethods.Limited> methods(Set<Class<?>> beanClasses, Problems problems) {
        beanClasses.forEach(new Reachability(problems)::checkDefaultMethods);
        return new AnnotationScanner(MethodNames.of(beanClasses), problems).scan(beanClasses);
    }

    RequestStates states() {
        return states;
    }

    /**
     * Returns the class of the intercepted bean, without subclasses of the container. The injected {@code @Intercepted} bean is null
     * if Jersey creates a resource.
     */
    private Class<?> beanClass(InvocationContext invocation) {
        Class<?> type = invocation.getTarget().getClass();
        while (type != null && !platform.discovered().beanClasses().contains(type)) {
            type = type.getSuperclass();
        }
        return type != null ? type : invocation.getMethod().getDeclaringClass();
    }

    public Binding.OfMethod method(InvocationContext invocation) {
        return gate.method(beanClass(invocation), invocation.getMethod());
    }

    /** Returns the text of the failure of a call whose thread must not block, and whose result no thread can deliver later. */
    public static String wouldBlock(InvocationContext invocation) {
        Method method = invocation.getMethod();
        return MESSAGES.text("WEIR-262", method.getDeclaringClass().getName() + "." + method.getName());
    }

    /**
     * Checks the resources among the classes of a REST application that are not beans, and logs their policies. CDI does not see them, so
     * the check takes place when Jakarta REST is configured. Throws a {@link DeploymentException} with all problems.
     */
    void checkResources(Set<Class<?>> classes) {
        Set<Class<?>> beanClasses = platform.discovered().beanClasses();
        Set<Class<?>> resources = new LinkedHashSet<>(classes);
        resources.removeIf(type ->
                beanClasses.contains(type) || ResourceOperations.root(type).isEmpty());
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
                    AnnotationScanner.methods(resources, Set.of(), names, new Problems()),
                    problems);
            if (!policies.isEmpty()) {
                MESSAGES.message("WEIR-001.resources").withLines(policies).log();
            }
        } catch (InvalidConfigurationException e) {
            throw new DeploymentException(e.getMessage(), e);
        }
    }

    public RateLimitGate gate() {
        return gate;
    }

    public MethodNames names() {
        return platform.discovered().names();
    }

    public HostedWeir weir() {
        return weir;
    }

    public Optional<RejectionResponder> responder() {
        return platform.responder();
    }

    public boolean hasPolicies() {
        return !weir.policies().policies().isEmpty();
    }
}
