// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import java.time.Duration;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.weld.bean.builtin.BeanManagerProxy;
import org.jboss.weld.config.SystemPropertiesConfiguration;
import org.jboss.weld.manager.api.ExecutorServices;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

@WeirTest(
        properties = {
            "ratelimit.policies.mail.limit=2/1h",
            "ratelimit.policies.mail.algorithm=fixed-window",
            "ratelimit.policies.mail.key=arg:tenant",
            "ratelimit.policies.mail.on-failure=closed",
            "greeting=hello"
        },
        beans = ContainerWeirTest.MailService.class)
class ContainerWeirTest {
    @ApplicationScoped
    static class MailService {
        @Inject
        @ConfigProperty(name = "greeting")
        String greeting;

        @RateLimit("mail")
        String send(@RateLimitKey("tenant") String tenant) {
            return greeting + " " + tenant;
        }
    }

    @Inject
    MailService mail;

    @Inject
    RateLimiter injected;

    @Inject
    BeanManager beans;

    RateLimits limits;
    RateLimitClock clock;

    @RepeatedTest(2)
    void limitsBeans() {
        assertThat(mail.send("a")).isEqualTo("hello a");
        mail.send("a");
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> mail.send("a"))
                .satisfies(e -> assertThat(e.retryAfter()).contains(Duration.ofHours(1)));
        clock.advance(Duration.ofHours(1));
        mail.send("a");
    }

    @Test
    void exhaustsTheKeysOfBeans() {
        limits.exhaust("mail", io.weir.ratelimit.Identity.argument("tenant", "b"));
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> mail.send("b"));
        mail.send("c");
    }

    @Test
    void failsTheBackendOfBeans() {
        limits.failBackend();
        assertThatExceptionOfType(RateLimitUnavailableException.class).isThrownBy(() -> mail.send("d"));
        limits.recoverBackend();
        mail.send("d");
    }

    @Test
    void injectsTheLimiter() {
        injected.acquire("mail", "a");
        assertThat(limits.remaining("mail", "a")).isOne();
    }

    @Test
    void startsWithoutXmlSchemasAndThreads() {
        assertThat(SystemPropertiesConfiguration.INSTANCE.isXmlValidationDisabled())
                .isTrue();
        assertThat(BeanManagerProxy.unwrap(beans).getServices().get(ExecutorServices.class))
                .isNull();
    }
}
