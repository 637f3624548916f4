// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The backend of the page about backends decides as documented. */
class BackendPageTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofSeconds(10))));
    private static final PolicyLimits USER =
            new PolicyLimits("user", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(10))));

    @TempDir
    private Path temp;

    private URLClassLoader loader;
    private RateLimitBackend backend;
    private long now = 1_000_000_000L;

    @BeforeEach
    void compile() throws Exception {
        String source = Snippet.of(DocumentedNamesTest.readPath(Path.of("../docs/how-to/write-a-backend.md"))).stream()
                .map(Snippet::text)
                .filter(text -> text.contains("class FixedWindowBackend "))
                .findFirst()
                .orElseThrow();
        DocumentCompiler.compile(List.of(Files.writeString(temp.resolve("FixedWindowBackend.java"), source)), temp);
        loader = new URLClassLoader(new URL[] {temp.toUri().toURL()}, getClass().getClassLoader());
        backend = (RateLimitBackend) loader.loadClass("FixedWindowBackend")
                .getConstructor(TimeSource.class)
                .newInstance((TimeSource) () -> now);
    }

    @AfterEach
    void close() throws Exception {
        loader.close();
    }

    private static Charge charge(PolicyLimits policy, String key) {
        return new Charge(policy, key, 1);
    }

    @Test
    void allowsTheLimitInEachWindow() {
        for (int remaining = 2; remaining >= 0; remaining--) {
            assertThat(backend.acquire(List.of(charge(API, "ann"))).quotas())
                    .extracting(Quota::remaining)
                    .containsExactly((long) remaining);
        }
        now += 4_000_000;
        Decision rejected = backend.acquire(List.of(charge(API, "ann")));
        assertThat(rejected)
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        rejection -> assertThat(rejection.retryAfter()).contains(Duration.ofSeconds(6)));
        now += 6_000_000;
        assertThat(backend.acquire(List.of(charge(API, "ann"))).allowed()).isTrue();
    }

    @Test
    void aRejectionSpendsNothing() {
        List<Charge> both = List.of(charge(API, "all"), charge(USER, "ann"));
        assertThat(backend.acquire(both).allowed()).isTrue();
        assertThat(backend.acquire(both).allowed()).isFalse();
        assertThat(backend.peek(charge(API, "all")))
                .extracting(Quota::remaining)
                .containsExactly(2L);
    }

    @Test
    void aShadowPolicyRejectsNothing() {
        List<Charge> both = List.of(charge(API, "all"), charge(USER, "ann").asShadow());
        assertThat(backend.acquire(both).shadowQuotas())
                .extracting(Quota::rejected)
                .containsExactly(false);
        Decision second = backend.acquire(both);
        assertThat(second.allowed()).isTrue();
        assertThat(second.shadowQuotas()).extracting(Quota::rejected).containsExactly(true);
    }

    @Test
    void aReceiptIsRefundedOnceAndOnlyInItsWindow() {
        Decision.Allowed first = (Decision.Allowed) backend.acquire(List.of(charge(API, "ann")));
        Decision.Allowed second = (Decision.Allowed) backend.acquire(List.of(charge(API, "ann")));
        backend.refund(first.receipt());
        backend.refund(first.receipt());
        assertThat(backend.peek(charge(API, "ann")))
                .extracting(Quota::remaining)
                .containsExactly(2L);
        now += 10_000_000;
        backend.acquire(List.of(charge(API, "ann")));
        backend.refund(second.receipt());
        assertThat(backend.peek(charge(API, "ann")))
                .extracting(Quota::remaining)
                .containsExactly(2L);
        backend.reset(API, "ann");
        assertThat(backend.peek(charge(API, "ann")))
                .extracting(Quota::remaining)
                .containsExactly(3L);
    }

    @Test
    void anotherAlgorithmFails() {
        PolicyLimits log = new PolicyLimits("log", List.of(Limit.of(Algorithm.SLIDING_LOG, 3, Duration.ofSeconds(10))));
        assertThatThrownBy(() -> backend.acquire(List.of(charge(log, "ann")))).isInstanceOf(BackendException.class);
    }
}
