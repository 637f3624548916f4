// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.client.RedisConnectionException;

/** Many threads enqueue and cancel requests while batches complete or fail in any order. No request is lost or sent twice. */
class BatcherThreadsTest {
    private static final int THREADS = 64;
    private static final int REPLIERS = 4;
    private static final int KEYS = 40;

    private final boolean full = Boolean.getBoolean("weir.test.full");
    private final long seed =
            Long.getLong("weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
    private final int requestsPerThread = full ? 20_000 : 1_000;

    private final AcquireRequests requests = AcquireRequests.in("test");
    private final LinkedBlockingQueue<SentBatch> inFlightBatches = new LinkedBlockingQueue<>();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger maxInFlight = new AtomicInteger();
    private final AtomicInteger sentRequests = new AtomicInteger();
    private final AtomicBoolean replying = new AtomicBoolean(true);

    private record SentBatch(Batch batch, CompletableFuture<byte[]> reply) {}

    /** How the clock of a batcher advances. */
    private enum Network {
        NEAR(0, 0, 1),
        FAR(200_000, 200_000, 2),
        /** A near one, some of whose replies are late. */
        LATE(0, 5_000_000, 2);

        private final long nanosPerQuestion;
        private final long sometimes;
        private final int maxInFlight;

        Network(long nanosPerQuestion, long sometimes, int maxInFlight) {
            this.nanosPerQuestion = nanosPerQuestion;
            this.sometimes = sometimes;
            this.maxInFlight = maxInFlight;
        }

        LongSupplier clock() {
            AtomicLong clock = new AtomicLong(System.nanoTime());
            AtomicInteger questions = new AtomicInteger();
            return () -> clock.addAndGet(questions.incrementAndGet() % 64 == 0 ? sometimes : nanosPerQuestion);
        }
    }

    @ParameterizedTest(name = "cancelling: {0}, network: {1}")
    @CsvSource({"false, FAR", "true, FAR", "false, NEAR", "true, NEAR", "false, LATE", "true, LATE"})
    void completesEachRequestOnceAndSendsItAtMostOnce(boolean cancelling, Network network) throws Exception {
        System.out.printf(
                "threads on a batcher, cancelling %s, network %s: -Dweir.test.seed=%d%n", cancelling, network, seed);
        Batcher batcher = new Batcher(
                this::send, (requests, waitingKeys) -> {}, Breaker.disabled(), slots -> {}, network.clock());
        AcquireRequest first = requests.spend("k.first", 1, limit(0));
        batcher.enqueue(first, -1);
        SentBatch sent = inFlightBatches.remove();
        inFlight.decrementAndGet();
        sent.reply.complete(FakeReply.allowing(sent.batch));
        sentRequests.set(0);
        ExecutorService pool = Executors.newFixedThreadPool(THREADS + REPLIERS);
        AtomicInteger completions = new AtomicInteger();
        List<AcquireRequest> all = new ArrayList<>();
        try {
            List<Future<?>> repliers = new ArrayList<>();
            for (int i = 0; i < REPLIERS; i++) {
                Random random = new Random(seed ^ -1 - i);
                repliers.add(pool.submit(() -> {
                    reply(random);
                    return null;
                }));
            }
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<List<AcquireRequest>>> callers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(seed + i);
                callers.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return call(batcher, random, cancelling, completions);
                }));
            }
            for (Future<List<AcquireRequest>> caller : callers) {
                all.addAll(caller.get(120, TimeUnit.SECONDS));
            }
            for (AcquireRequest request : all) {
                request.handle((result, failure) -> result).get(60, TimeUnit.SECONDS);
            }
            replying.set(false);
            for (Future<?> each : repliers) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            replying.set(false);
            pool.shutdownNow();
        }
        assertThat(all).hasSize(THREADS * requestsPerThread);
        assertThat(completions).hasValue(all.size());
        assertThat(all.stream().filter(request -> request.batch != null)).hasSize(sentRequests.get());
        assertThat(all).allSatisfy(request -> assertThat(request.batch == null).isEqualTo(wasNotSent(request)));
        if (!cancelling) {
            assertThat(maxInFlight).hasValue(network.maxInFlight);
        }
        int before = inFlight.get();
        for (int i = 0; i < 3; i++) {
            batcher.enqueue(requests.spend("k.idle", 1, limit(0)), -1);
        }
        assertThat(inFlight.get() - before).isBetween(network == Network.FAR ? 2 : 1, network.maxInFlight);
    }

    private List<AcquireRequest> call(Batcher batcher, Random random, boolean cancelling, AtomicInteger completions) {
        List<AcquireRequest> mine = new ArrayList<>();
        for (int i = 0; i < requestsPerThread; i++) {
            int key = random.nextInt(KEYS);
            AcquireRequest request =
                    requests.spend("k." + key, 1 + random.nextInt(2), limit(random.nextInt(20) == 0 ? 1 : 0));
            mine.add(request);
            CompletableFuture<AcquireResult> counted =
                    request.whenComplete((result, failure) -> completions.incrementAndGet());
            batcher.enqueue(request, -1);
            if (cancelling && random.nextInt(3) == 0) {
                batcher.cancel(mine.get(random.nextInt(mine.size())));
                batcher.cancel(request);
            } else if (random.nextInt(4) == 0) {
                counted.exceptionally(failure -> null).join();
            }
        }
        return mine;
    }

    private static boolean wasNotSent(AcquireRequest request) {
        if (!request.isCompletedExceptionally()) {
            return false;
        }
        Throwable failure = request.handle((result, thrown) -> thrown).join();
        return failure instanceof BackendException known
                && (known.reason() == Reason.TIMEOUT || known.reason() == Reason.FULL);
    }

    private CompletableFuture<byte[]> send(Batch batch) {
        sentRequests.addAndGet(batch.size());
        maxInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
        SentBatch sent = new SentBatch(batch, new CompletableFuture<>());
        inFlightBatches.add(sent);
        return sent.reply;
    }

    private void reply(Random random) throws InterruptedException {
        while (replying.get()) {
            SentBatch sent = inFlightBatches.poll(1, TimeUnit.MILLISECONDS);
            if (sent == null) {
                continue;
            }
            if (random.nextInt(3) == 0) {
                inFlightBatches.add(sent);
            } else {
                byte[] reply = FakeReply.allowing(sent.batch);
                inFlight.decrementAndGet();
                if (random.nextInt(10) == 0) {
                    sent.reply.completeExceptionally(new RedisConnectionException("gone"));
                } else {
                    sent.reply.complete(reply);
                }
            }
        }
    }

    private static Limit limit(int version) {
        return Limit.of(Algorithm.FIXED_WINDOW, 1_000_000 + version, Duration.ofHours(1));
    }
}
