// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.PinnedThreads;
import io.weir.ratelimit.fixtures.VirtualThreads;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The backend contract with callers on virtual threads, and many of them at once. */
@Tag("threads")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21")
final class LocalBackendOnVirtualThreadsTest extends RateLimitBackendContract {
    private static final int CALLERS = 2_000;
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 500, Duration.ofDays(1));

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return VirtualThreads.calling(RateLimitBackend.class, new LocalBackend(100_000, time));
    }

    private static List<Charge> charge(String key) {
        return List.of(new Charge(new PolicyLimits("api", List.of(LIMIT)), key, 1));
    }

    @Test
    void manyCallersOfOneKeySpendExactlyItsLimit() {
        LocalBackend local = new LocalBackend(100);
        List<Boolean> allowed = VirtualThreads.together(
                CALLERS, () -> local.acquire(charge("k.one")).allowed());
        assertThat(allowed.stream().filter(each -> each)).hasSize(500);
    }

    @Test
    void manyCallersOfManyKeysAreDecidedWithinTheMaximumNumberOfKeys() {
        LocalBackend local = new LocalBackend(100);
        List<String> outcomes = VirtualThreads.together(CALLERS, () -> {
            try {
                return "allowed "
                        + local.acquire(charge(
                                        "k." + ThreadLocalRandom.current().nextLong()))
                                .allowed();
            } catch (BackendException e) {
                return "failed " + e.reason();
            }
        });
        assertThat(outcomes).contains("allowed true").containsOnly("allowed true", "failed FULL");
        assertThat(local.size()).isLessThanOrEqualTo(100);
    }

    @Test
    void noCallerBlocksItsCarrier() {
        LocalBackend local = new LocalBackend(100);
        VirtualThreads.together(10, () -> local.acquire(charge("k.first")));
        try (PinnedThreads pinned = PinnedThreads.recording()) {
            VirtualThreads.together(CALLERS, () -> local.acquire(charge("k.one")));
            assertThat(pinned.through("io.weir.ratelimit.core")).isEmpty();
        }
    }
}
