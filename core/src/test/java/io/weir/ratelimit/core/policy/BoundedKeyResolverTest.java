// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BoundedKeyResolverTest {
    private static final Optional<Identity> KEY = Optional.of(Identity.of("tenant-7"));

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private LogCapture log;

    private KeyResolver bounded(Duration deadline, KeyResolver resolver) {
        return new BoundedKeyResolver(
                "tenant",
                resolver,
                new LookupTimes(Duration.ofSeconds(5), deadline, nanos::get),
                (kind, name, failed) -> failures.add(kind + " " + name + " " + failed));
    }

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void theResolverReadsTheCallOnItsThread() {
        List<Thread> threads = new ArrayList<>();
        KeyResolver resolver = bounded(Duration.ZERO, call -> {
            threads.add(Thread.currentThread());
            return call.header("x-tenant").map(Identity::of);
        });
        assertThat(resolver.resolve(TestCall.ofHeader("x-tenant", "tenant-7"))).isEqualTo(KEY);
        assertThat(resolver.resolve(CallContext.NONE)).isEmpty();
        assertThat(threads).containsOnly(Thread.currentThread());
        assertThat(failures).isEmpty();
    }

    @Test
    void failuresAreCountedAndEndTheCall() {
        KeyResolver failing = bounded(Duration.ZERO, call -> {
            throw new IllegalStateException("failed");
        });
        for (int i = 0; i < 2 * ThreadBound.MAX_THREADS; i++) {
            assertThatThrownBy(() -> failing.resolve(CallContext.NONE)).hasMessage("failed");
        }
        @SuppressWarnings("NullAway") // an application can return null
        KeyResolver broken = bounded(Duration.ZERO, call -> null);
        assertThat(broken.resolve(CallContext.NONE)).isNull();
        assertThat(failures).hasSize(2 * ThreadBound.MAX_THREADS + 1).containsOnly("KEY tenant ERROR");
    }

    @Test
    void aHangingResolverHoldsEightThreadsAndIsLoggedOnce() throws Exception {
        CountDownLatch inside = new CountDownLatch(ThreadBound.MAX_THREADS);
        CountDownLatch end = new CountDownLatch(1);
        KeyResolver hanging = bounded(Duration.ofMillis(1), call -> {
            inside.countDown();
            await(end);
            return KEY;
        });
        List<CompletableFuture<Optional<Identity>>> held = new ArrayList<>();
        for (int i = 0; i < ThreadBound.MAX_THREADS; i++) {
            held.add(inThread(hanging));
        }
        await(inside);
        for (int i = 0; i < 100; i++) {
            assertThat(hanging.resolve(CallContext.NONE)).isEmpty();
        }
        assertThat(failures).hasSize(100).containsOnly("KEY tenant BUSY");
        assertThat(log.lines())
                .containsExactly(
                        "WARNING WEIR-305 KeyResolver tenant holds 8 request threads for longer than 1 ms. Until one"
                                + " returns, its term does not resolve for other calls. This is logged once for each outage.");
        end.countDown();
        for (CompletableFuture<Optional<Identity>> call : held) {
            assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(KEY);
        }
        assertThat(hanging.resolve(CallContext.NONE)).isEqualTo(KEY);
    }

    @Test
    void aCallWaitsForItsTurnDuringAPeak() throws Exception {
        CountDownLatch inside = new CountDownLatch(ThreadBound.MAX_THREADS);
        CountDownLatch end = new CountDownLatch(1);
        KeyResolver busy = bounded(Duration.ofHours(1), call -> {
            inside.countDown();
            await(end);
            return KEY;
        });
        List<CompletableFuture<Optional<Identity>>> calls = new ArrayList<>();
        for (int i = 0; i < 3 * ThreadBound.MAX_THREADS; i++) {
            calls.add(inThread(busy));
        }
        await(inside);
        end.countDown();
        for (CompletableFuture<Optional<Identity>> call : calls) {
            assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(KEY);
        }
        assertThat(failures).isEmpty();
    }

    private static CompletableFuture<Optional<Identity>> inThread(KeyResolver resolver) {
        return CompletableFuture.supplyAsync(
                () -> resolver.resolve(CallContext.NONE), task -> new Thread(task).start());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
