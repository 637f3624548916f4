// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.health.HealthChecks;
import io.weir.ratelimit.interceptor.policy.Problems;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.BeforeShutdown;
import jakarta.enterprise.inject.spi.DeploymentException;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.Interceptor;
import jakarta.enterprise.inject.spi.ProcessBean;
import jakarta.enterprise.inject.spi.ProcessManagedBean;
import jakarta.interceptor.InvocationContext;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds the limited methods of a deployment, checks everything at once, and keeps what the entry points need. */
public class RateLimitExtension implements Extension {
    private static final String HEALTH_API = "org.eclipse.microprofile.health.HealthCheck";

    private final Set<Class<?>> beanClasses = new LinkedHashSet<>();
    private final Set<Class<?>> resourceClasses = ConcurrentHashMap.newKeySet();
    private @Nullable Bean<RateLimitBeans> own;
    private volatile @Nullable RateLimitRuntime runtime;

    void health(@Observes AfterBeanDiscovery event) {
        if (isThere(HEALTH_API)) {
            HealthChecks.addTo(event, RateLimitBeans.class, () -> runtime().health());
        }
    }

    /** Asked of this library's own class loader: that of the thread can find classes that this code would not. */
    private static boolean isThere(String type) {
        try {
            Class.forName(type, false, RateLimitExtension.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    void bean(@Observes ProcessBean<?> event) {
        // On an interceptor the annotation says what it intercepts.
        if (!(event.getBean() instanceof Interceptor)) {
            beanClasses.add(event.getBean().getBeanClass());
        }
    }

    void own(@Observes ProcessManagedBean<RateLimitBeans> event) {
        own = event.getBean();
    }

    void deploy(@Observes AfterDeploymentValidation event, BeanManager beans) {
        Problems problems = new Problems();
        runtime = inTheApplication(() -> new Deployment(ofThisArchive(beans), problems).make(beanClasses));
        if (!problems.found().isEmpty()) {
            event.addDeploymentProblem(new DeploymentException(problems.message()));
        }
    }

    /** The application begins. */
    void started() {
        runtime().started(ofTheApplication(Thread.currentThread().getContextClassLoader()));
    }

    void end(@Observes BeforeShutdown event) {
        RateLimitRuntime made = runtime;
        if (made != null) {
            made.stopped();
        }
    }

    /** Runs something under the class loader of the application. */
    static <T> T inTheApplication(Supplier<T> task) {
        Thread thread = Thread.currentThread();
        ClassLoader context = thread.getContextClassLoader();
        thread.setContextClassLoader(ofTheApplication(context));
        try {
            return task.get();
        } finally {
            thread.setContextClassLoader(context);
        }
    }

    /**
     * The class loader by which configuration and the container are found. WildFly deploys the WAR of an EAR under the EAR's own, which sees neither
     * this class nor the WAR's configuration.
     */
    private static ClassLoader ofTheApplication(@Nullable ClassLoader context) {
        try {
            Class.forName(RateLimitExtension.class.getName(), false, context);
            return Objects.requireNonNull(context);
        } catch (ClassNotFoundException e) {
            return RateLimitExtension.class.getClassLoader();
        }
    }

    /** What the beans of this archive see. An extension may see less: Payara gives it an archive of its own. */
    private RateLimitBeans ofThisArchive(BeanManager beans) {
        Bean<RateLimitBeans> bean = Objects.requireNonNull(own, "the archive of RateLimitBeans is no bean archive");
        return (RateLimitBeans) beans.getReference(bean, RateLimitBeans.class, beans.createCreationalContext(bean));
    }

    /**
     * The bean's class, of which the container may have made a subclass. Not by injection of the {@code @Intercepted} bean, which
     * is null where Jersey makes a resource.
     */
    Class<?> beanClass(InvocationContext invocation) {
        Class<?> type = invocation.getTarget().getClass();
        while (type != null && !beanClasses.contains(type)) {
            type = type.getSuperclass();
        }
        return type != null ? type : invocation.getMethod().getDeclaringClass();
    }

    /**
     * What the deployment has made.
     *
     * @return the runtime
     * @throws IllegalStateException if the deployment has not ended
     */
    public RateLimitRuntime runtime() {
        RateLimitRuntime made = runtime;
        if (made == null) {
            throw new IllegalStateException("rate limits are decided about after the deployment only");
        }
        return made;
    }

    /**
     * Takes note of a resource class, which may be no bean.
     *
     * @param resourceClass the class
     */
    public void resource(Class<?> resourceClass) {
        resourceClasses.add(resourceClass);
    }

    /**
     * The operations of the resources that are known so far, limited or not: those that are beans, and those that Jakarta REST has
     * shown since.
     *
     * @return the operations, without those of sub-resources whose class their locator does not tell
     * @throws IllegalStateException if the deployment has not ended
     */
    public List<ResourceOperation> operations() {
        Set<Class<?>> classes = new LinkedHashSet<>(beanClasses);
        classes.addAll(resourceClasses);
        return new ResourceOperations(runtime()).of(classes);
    }
}
