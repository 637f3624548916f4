// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.health.HealthChecks;
import io.weir.ratelimit.interceptor.servlet.ServletMappings;
import io.weir.ratelimit.runtime.ApplicationLoader;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.BeforeDestroyed;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.BeforeShutdown;
import jakarta.enterprise.inject.spi.DeploymentException;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.Interceptor;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.ProcessBean;
import jakarta.enterprise.inject.spi.ProcessInjectionPoint;
import jakarta.enterprise.inject.spi.ProcessManagedBean;
import jakarta.enterprise.inject.spi.ProcessProducerField;
import jakarta.enterprise.inject.spi.ProcessProducerMethod;
import jakarta.enterprise.inject.spi.WithAnnotations;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A CDI extension that deploys the limits of an application. It reports all problems at once. */
public class RateLimitExtension implements Extension {
    private final Set<Class<?>> beanClasses = new LinkedHashSet<>();
    private final Set<Class<?>> managedBeans = ConcurrentHashMap.newKeySet();
    private final Set<Class<?>> resourceClasses = ConcurrentHashMap.newKeySet();
    private final Set<Class<?>> annotatedClasses = ConcurrentHashMap.newKeySet();
    private final Set<String> addedLimits = ConcurrentHashMap.newKeySet();

    /** The classes with limits that producers return, by the producer. */
    private final Map<String, Class<?>> produced = new ConcurrentSkipListMap<>();

    private volatile boolean usesLimiter;
    private @Nullable Bean<RateLimitBeans> beansOfLibrary;
    private volatile @Nullable DeployedApplication application;

    /**
     * Returns the extension of an application that its host has deployed, because its container runs no portable extensions. Its classes
     * are those of limited beans and of resources. A bean can use a {@code RateLimiter} for any policy.
     */
    public static RateLimitExtension of(
            DeployedApplication application, Set<Class<?>> beanClasses, boolean usesLimiter) {
        RateLimitExtension extension = new RateLimitExtension();
        extension.application = application;
        extension.beanClasses.addAll(beanClasses);
        extension.usesLimiter = usesLimiter;
        return extension;
    }

    /** Reports a missing MicroProfile Config before the container loads classes that use it. */
    void requireConfig(@Observes BeforeBeanDiscovery event) {
        if (!OptionalApi.MICROPROFILE_CONFIG.isVisible()) {
            throw new DeploymentException(MESSAGES.text("WEIR-217.api"));
        }
    }

    void health(@Observes AfterBeanDiscovery event) {
        if (OptionalApi.MICROPROFILE_HEALTH.isVisible()) {
            HealthChecks.addTo(
                    event, RateLimitBeans.class, () -> application().weir().health());
        }
    }

    /** Some classes with annotations are not beans, such as those of message-driven beans. */
    <T> void annotated(@Observes @WithAnnotations(RateLimit.class) ProcessAnnotatedType<T> event) {
        annotatedClasses.add(event.getAnnotatedType().getJavaClass());
    }

    /** A limiter can be injected itself, or as an {@code Instance}. */
    void injected(@Observes ProcessInjectionPoint<?, ?> event) {
        String type = event.getInjectionPoint().getType().getTypeName();
        usesLimiter |= type.contains(RateLimiter.class.getName());
    }

    void bean(@Observes ProcessBean<?> event) {
        // On an interceptor, the annotation is its binding.
        if (!(event.getBean() instanceof Interceptor)) {
            beanClasses.add(event.getBean().getBeanClass());
            if (event instanceof ProcessManagedBean<?> managed) {
                managedBeans.add(event.getBean().getBeanClass());
                addedLimits.addAll(Reachability.added(managed.getAnnotatedBeanClass()));
            } else if (event instanceof ProcessProducerMethod<?, ?> producer) {
                Method method = producer.getAnnotatedProducerMethod().getJavaMember();
                produced(method, method.getReturnType(), List.of(method.getParameterTypes()));
            } else if (event instanceof ProcessProducerField<?, ?> producer) {
                Field field = producer.getAnnotatedProducerField().getJavaMember();
                produced(field, field.getType(), List.of());
            }
        }
    }

    private void produced(Member producer, Class<?> type, List<Class<?>> parameters) {
        if (Reachability.losesLimits(type, parameters)) {
            produced.put(producer.getDeclaringClass().getName() + "." + producer.getName(), type);
        }
    }

    void bean(@Observes ProcessManagedBean<RateLimitBeans> event) {
        beansOfLibrary = event.getBean();
    }

    void deploy(@Observes AfterDeploymentValidation event, BeanManager beans) {
        MethodNames names = MethodNames.of(beanClassesAnd(annotatedClasses));
        try {
            application = callInApplication(() -> DeployedApplication.on(CdiPlatform.of(
                    libraryBeans(beans), new CdiPlatform.Discovered(beanClasses, managedBeans, names, addedLimits))));
        } catch (InvalidConfigurationException e) {
            event.addDeploymentProblem(new DeploymentException(e.getMessage() + hint(names)));
            return;
        }
        logApplicationProblems();
    }

    /** Returns where Weir and its properties have to be if this library is not in the archive of the limited classes. */
    private static String hint(MethodNames names) {
        return names.ofOtherLoaders().isEmpty()
                ? ""
                : "\n" + MESSAGES.text("WEIR-038", names.ofOtherLoaders().get(0).getName());
    }

    private void logApplicationProblems() {
        if (application().hasPolicies()) {
            callInApplication(() -> ServiceLoading.withoutLimits(beanClasses)).forEach(error -> error.log());
            produced.forEach((producer, type) -> {
                // Otherwise the producer can return the bean.
                if (managedBeans.stream().noneMatch(type::isAssignableFrom)) {
                    MESSAGES.log("WEIR-040", producer, type.getName());
                }
            });
        }
        if (!OptionalApi.SERVLET.isVisible()) {
            // Otherwise a listener of the WAR checks the policies, which knows the servlets.
            logWarnings();
        }
    }

    /** Logs the policies that do not fit the application. */
    public void logWarnings() {
        try {
            callInApplication(() -> check().warnings(Set.of(), true)).forEach(warning -> warning.log());
        } catch (RuntimeException | LinkageError e) {
            MessageCatalog.debug("The policies are not checked against the application", e);
        }
    }

    /** Returns one message for each REST application of a WAR that has no limits. Those that are beans are logged at the deployment. */
    public List<MessageCatalog.Message> withoutLimits(Set<Class<?>> restApplications) {
        Set<Class<?>> others = new LinkedHashSet<>(restApplications);
        others.removeAll(beanClasses);
        return application().hasPolicies() ? ServiceLoading.withoutLimits(others) : List.of();
    }

    /** Checks the policies against the started application. */
    public List<MessageCatalog.Message> warnings(ServletMappings served) {
        return check().warnings(served.patterns(), served.jersey());
    }

    private ApplicationCheck check() {
        return new ApplicationCheck(application(), beanClassesAnd(annotatedClasses), usesLimiter);
    }

    private Set<Class<?>> beanClassesAnd(Set<Class<?>> others) {
        Set<Class<?>> classes = new LinkedHashSet<>(beanClasses);
        classes.addAll(others);
        return classes;
    }

    /** Ends waits while the backend can still refund their permits. */
    void endWaits(@Observes @BeforeDestroyed(ApplicationScoped.class) Object event) {
        Optional.ofNullable(application).ifPresent(deployed -> deployed.weir().endWaits());
    }

    void end(@Observes BeforeShutdown event) {
        Optional.ofNullable(application).ifPresent(deployed -> deployed.weir().close());
    }

    /** Calls a task with the class loader of the application as context class loader. */
    static <T> T callInApplication(Supplier<T> task) {
        return ApplicationLoader.call(RateLimitExtension.class, task);
    }

    /** Returns the bean of this archive, which sees more beans than the extension: on Payara, that is in another archive. */
    private RateLimitBeans libraryBeans(BeanManager beans) {
        Bean<RateLimitBeans> bean =
                Objects.requireNonNull(beansOfLibrary, "the archive of RateLimitBeans is not a bean archive");
        return (RateLimitBeans) beans.getReference(bean, RateLimitBeans.class, beans.createCreationalContext(bean));
    }

    /** Returns the parts that the deployment has created. Throws an {@link IllegalStateException} if the deployment has not ended. */
    public DeployedApplication application() {
        DeployedApplication deployed = application;
        if (deployed == null) {
            throw new IllegalStateException("the deployment of rate limits has not ended");
        }
        return deployed;
    }

    /**
     * Checks the resource classes of a REST application that are not beans, as the deployment has checked the beans. Throws a {@link
     * DeploymentException} with all problems.
     */
    public void checkResources(Set<Class<?>> classes) {
        DeployedApplication deployed = application();
        callInApplication(() -> {
            deployed.checkResources(classes);
            return deployed;
        });
    }

    /** Registers a resource class, which need not be a bean. */
    public void addResource(Class<?> resourceClass) {
        resourceClasses.add(resourceClass);
    }

    /**
     * Lists the operations of all known resources, limited or not: those that are beans, and those that are registered. Those of
     * sub-resources whose locator does not declare their class are missing. Throws an {@link IllegalStateException} if the deployment has
     * not ended.
     */
    public List<ApplicationView.Operation> operations() {
        return new ResourceOperations(application().gate()).of(beanClassesAnd(resourceClasses));
    }
}
