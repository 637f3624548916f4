// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimiter;
import jakarta.inject.Inject;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests with one instance for all methods, which JUnit creates before it calls the extension. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@WeirTest(
        container = false,
        properties = {"ratelimit.policies.hello.limit=2/10s", "ratelimit.policies.hello.algorithm=fixed-window"})
class PerClassWeirTest {
    private final RateLimiter ofConstructor;
    private RateLimits limits;
    private long beforeAll;

    PerClassWeirTest(RateLimiter limiter) {
        this.ofConstructor = limiter;
    }

    @BeforeAll
    void readsAQuota() {
        beforeAll = limits.remaining("hello", "a");
    }

    Stream<String> keys() {
        return Stream.of("a", "b");
    }

    @ParameterizedTest
    @MethodSource("keys")
    void startsBeforeItsInstance(String key) {
        assertThat(beforeAll).isEqualTo(2);
        assertThat(ofConstructor.acquire("hello", key).allowed()).isTrue();
        assertThat(limits.remaining("hello", key)).isEqualTo(1);
    }

    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    class WithTheEngineOfItsClass {
        RateLimiter limiter;

        @RepeatedTest(2)
        void startsWithoutState() {
            assertThat(limiter).isSameAs(ofConstructor);
            assertThat(limits.remaining("hello", "a")).isEqualTo(2);
            limits.exhaust("hello", "a");
        }
    }

    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    @WeirTest(
            properties = {"ratelimit.policies.mail.limit=1/1h", "ratelimit.policies.mail.key=arg:tenant", "greeting=hi"
            },
            beans = ContainerWeirTest.MailService.class)
    class WithAContainerOfItsOwn {
        @Inject
        ContainerWeirTest.MailService mail;

        RateLimits own;

        @RepeatedTest(2)
        void limitsBeans() {
            assertThat(mail.send("a")).isEqualTo("hi a");
            assertThat(own).isNotSameAs(limits);
        }
    }
}
