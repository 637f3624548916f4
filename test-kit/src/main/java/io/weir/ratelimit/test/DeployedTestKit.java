// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessProducerMethod;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The test kit of a deployment on a server: the limits of an application that contains this jar use a clock that only tests move, and a
 * backend in process. Tests in the deployment inject {@link RateLimitClock} and {@link RateLimits}. No property enables or disables it.
 */
public final class DeployedTestKit implements Extension {
    @Nullable
    private volatile Bean<?> limiter;

    @Nullable
    private volatile Bean<?> weir;

    /** Creates the extension, which containers find as a service. */
    public DeployedTestKit() {}

    void add(@Observes AfterBeanDiscovery event, BeanManager beans) {
        if (isTestOfThisJvm(beans)) {
            return;
        }
        TestEnvironment environment = TestEnvironment.deployed(Instant.parse(WeirTest.DEFAULT_NOW));
        new TestBeans(
                        environment,
                        new EngineLimits(
                                environment,
                                () -> reference(beans, limiter, RateLimiter.class),
                                () -> reference(beans, weir, HostedWeir.class)))
                .add(event);
    }

    void found(@Observes ProcessProducerMethod<RateLimiter, ?> event) {
        limiter = event.getBean();
    }

    void foundWeir(@Observes ProcessProducerMethod<HostedWeir, ?> event) {
        weir = event.getBean();
    }

    /** Does not resolve the type: on Payara and GlassFish, an archive without {@code beans.xml} sees no bean of another library. */
    private static <T> T reference(BeanManager beans, @Nullable Bean<?> found, Class<T> type) {
        Bean<?> bean = Objects.requireNonNull(found);
        return type.cast(beans.getReference(bean, type, beans.createCreationalContext(bean)));
    }

    /** Whether the container belongs to a test class, which has an environment of its own. */
    private static boolean isTestOfThisJvm(BeanManager beans) {
        try {
            return beans.getExtension(TestBeans.class) != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
