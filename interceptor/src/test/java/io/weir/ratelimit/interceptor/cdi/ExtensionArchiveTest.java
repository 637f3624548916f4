// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.interceptor.cdi.Beans.Listener;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.spi.Extension;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;
import org.jboss.weld.bootstrap.api.CDI11Bootstrap;
import org.jboss.weld.bootstrap.api.ServiceRegistry;
import org.jboss.weld.bootstrap.spi.BeanDeploymentArchive;
import org.jboss.weld.bootstrap.spi.BeansXml;
import org.jboss.weld.bootstrap.spi.CDI11Deployment;
import org.jboss.weld.bootstrap.spi.Deployment;
import org.jboss.weld.bootstrap.spi.Metadata;
import org.jboss.weld.environment.deployment.WeldBeanDeploymentArchive;
import org.jboss.weld.environment.se.Weld;
import org.jboss.weld.environment.se.WeldContainer;
import org.jboss.weld.resources.spi.ResourceLoader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An extension in a separate archive, from which no bean is visible, as on Payara. */
class ExtensionArchiveTest {
    @Test
    void findsBeansThatTheArchiveOfTheExtensionDoesNotSee() {
        Weld weld = new IsolatedExtension()
                .disableDiscovery()
                .addExtension(new RateLimitExtension())
                .addBeanClasses(
                        LimitBeans.class, RateLimitBeans.class, CurrentRequest.class, RateLimitInterceptor.class)
                .addBeanClasses(Once.class, Listener.class);
        try (WeldContainer container = weld.initialize()) {
            Once once = container.select(Once.class).get();
            once.call();
            assertThatThrownBy(once::call).isInstanceOf(RateLimitExceededException.class);
            assertThat(container.select(Listener.class).get().decisions())
                    .containsExactly("Once.call true", "Once.call false");
            HealthCheck check = container
                    .select(HealthCheck.class, Readiness.Literal.INSTANCE)
                    .get();
            assertThat(check.call().getStatus()).isEqualTo(HealthCheckResponse.Status.UP);
        }
    }

    @ApplicationScoped
    public static class Once {
        @RateLimit(limit = "1/1h", key = "global")
        public void call() {}
    }

    private static final class IsolatedExtension extends Weld {
        @Override
        protected Deployment createDeployment(ResourceLoader loader, CDI11Bootstrap bootstrap) {
            return new Isolating((CDI11Deployment) super.createDeployment(loader, bootstrap));
        }
    }

    /** A deployment with two archives. Only the archive of the beans sees the other one. */
    private record Isolating(CDI11Deployment all, WeldBeanDeploymentArchive alone) implements CDI11Deployment {
        Isolating(CDI11Deployment all) {
            this(all, new WeldBeanDeploymentArchive("extension", Set.of(), BeansXml.EMPTY_BEANS_XML));
            for (BeanDeploymentArchive archive : all.getBeanDeploymentArchives()) {
                ((WeldBeanDeploymentArchive) archive).setAccessibleBeanDeploymentArchives(Set.of(alone));
            }
        }

        @Override
        public Collection<BeanDeploymentArchive> getBeanDeploymentArchives() {
            return Stream.concat(all.getBeanDeploymentArchives().stream(), Stream.of(alone))
                    .toList();
        }

        @Override
        public @Nullable BeanDeploymentArchive getBeanDeploymentArchive(Class<?> type) {
            return type == RateLimitExtension.class ? alone : all.getBeanDeploymentArchive(type);
        }

        @Override
        public @Nullable BeanDeploymentArchive loadBeanDeploymentArchive(Class<?> type) {
            return type == RateLimitExtension.class ? alone : all.loadBeanDeploymentArchive(type);
        }

        @Override
        public ServiceRegistry getServices() {
            return all.getServices();
        }

        @Override
        public Iterable<Metadata<Extension>> getExtensions() {
            return all.getExtensions();
        }
    }
}
