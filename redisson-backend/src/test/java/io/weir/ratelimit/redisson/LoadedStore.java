// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Threads that make the same decisions over and over, with a count of what became of them. */
final class LoadedStore implements AutoCloseable {
    private static final int THREADS = 4;
    private static final Duration DECIDES_WITHIN = Duration.ofSeconds(30);

    private final RedissonBackend backend;
    private final List<Charge> charges;
    private final AtomicLong admitted = new AtomicLong();
    private final Map<Reason, Long> failed = new ConcurrentHashMap<>();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final AtomicReference<Throwable> surprise = new AtomicReference<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    LoadedStore(RedissonBackend backend, Charge... charges) {
        this.backend = backend;
        this.charges = List.of(charges);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(this::load, "load-" + i);
            thread.start();
            threads.add(thread);
        }
        awaitDecisions();
    }

    private void load() {
        while (!ended.get()) {
            long start = System.nanoTime();
            try {
                assertThat(backend.acquire(charges).allowed()).isTrue();
                admitted.incrementAndGet();
            } catch (BackendException e) {
                failed.merge(e.reason(), 1L, Long::sum);
            } catch (RuntimeException | Error e) {
                surprise.set(e);
                return;
            }
            slowestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
        }
    }

    /** Waits until some hundred more have been admitted. */
    void awaitDecisions() {
        long before = admitted.get();
        Await.until("the store decides under load", DECIDES_WITHIN, () -> admitted.get() > before + 200);
    }

    /** Ends the load; no call took much longer than its deadline, and none ended in another way than a decision may. */
    void end(Duration deadline) {
        close();
        assertThat(surprise).hasNullValue();
        assertThat(Duration.ofNanos(slowestNanos.get())).isLessThan(deadline.plus(FaultCalls.MARGIN));
    }

    long admitted() {
        return admitted.get();
    }

    /** Calls that failed, each of which may have been charged once. */
    long failures() {
        return failed.values().stream().mapToLong(Long::longValue).sum();
    }

    /** In words, for a test that fails. */
    @Override
    public String toString() {
        return admitted + " admitted, failed " + failed + ", slowest " + slowestNanos.get() / 1_000_000 + " ms";
    }

    @Override
    public void close() {
        ended.set(true);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
