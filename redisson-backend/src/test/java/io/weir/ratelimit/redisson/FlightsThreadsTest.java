// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.RedisConnectionException;

/** Many threads that board, give up and are answered, by flights that land in any order or fail: nobody is lost or asked for twice. */
class FlightsThreadsTest {
    private static final int THREADS = 64;
    private static final int GROUND_CREW = 4;
    private static final int IDENTITIES = 40;
    private static final int MOST_IN_THE_AIR = 2;

    private final boolean full = Boolean.getBoolean("weir.test.full");
    private final long seed =
            Long.getLong("weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
    private final int checksPerThread = full ? 20_000 : 1_000;

    private final Checks checks = Checks.in("test");
    private final ConcurrentLinkedQueue<Sent> air = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inTheAir = new AtomicInteger();
    private final AtomicInteger mostInTheAir = new AtomicInteger();
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicBoolean landing = new AtomicBoolean(true);

    private record Sent(Flight flight, CompletableFuture<byte[]> reply) {}

    @ParameterizedTest(name = "giving up: {0}")
    @ValueSource(booleans = {false, true})
    void eachCheckIsAnsweredExactlyOnceAndAskedForAtMostOnce(boolean givingUp) throws Exception {
        System.out.printf("threads on flights, giving up %s: -Dweir.test.seed=%d%n", givingUp, seed);
        Flights flights = new Flights(this::send, (aboard, keysWaiting) -> {}, Breaker.never());
        ExecutorService pool = Executors.newFixedThreadPool(THREADS + GROUND_CREW);
        AtomicInteger answers = new AtomicInteger();
        List<Check> all = new ArrayList<>();
        try {
            List<Future<?>> crew = new ArrayList<>();
            for (int i = 0; i < GROUND_CREW; i++) {
                Random random = new Random(seed ^ -1 - i);
                crew.add(pool.submit(() -> land(random)));
            }
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<List<Check>>> callers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(seed + i);
                callers.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return call(flights, random, givingUp, answers);
                }));
            }
            for (Future<List<Check>> caller : callers) {
                all.addAll(caller.get(120, TimeUnit.SECONDS));
            }
            for (Check check : all) {
                check.handle((answer, failure) -> answer).get(60, TimeUnit.SECONDS);
            }
            landing.set(false);
            for (Future<?> each : crew) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            landing.set(false);
            pool.shutdownNow();
        }
        assertThat(all).hasSize(THREADS * checksPerThread);
        assertThat(answers).hasValue(all.size());
        assertThat(all.stream().filter(check -> check.flight != null)).hasSize(asked.get());
        assertThat(all).allSatisfy(check -> assertThat(check.flight == null).isEqualTo(wasNotSent(check)));
        if (!givingUp) {
            assertThat(mostInTheAir).hasValue(MOST_IN_THE_AIR);
        }
        int before = inTheAir.get();
        for (int i = 0; i < MOST_IN_THE_AIR + 1; i++) {
            flights.board(checks.spend("k.idle", 1, limit(0)), -1);
        }
        assertThat(inTheAir.get() - before).isEqualTo(MOST_IN_THE_AIR);
    }

    private List<Check> call(Flights flights, Random random, boolean givingUp, AtomicInteger answers) {
        List<Check> mine = new ArrayList<>();
        for (int i = 0; i < checksPerThread; i++) {
            int identity = random.nextInt(IDENTITIES);
            Check check = checks.spend("k." + identity, 1 + random.nextInt(2), limit(random.nextInt(20) == 0 ? 1 : 0));
            mine.add(check);
            CompletableFuture<Answer> counted = check.whenComplete((answer, failure) -> answers.incrementAndGet());
            flights.board(check, -1);
            if (givingUp && random.nextInt(3) == 0) {
                flights.giveUp(mine.get(random.nextInt(mine.size())));
                flights.giveUp(check);
            } else if (random.nextInt(4) == 0) {
                counted.exceptionally(failure -> null).join();
            }
        }
        return mine;
    }

    private static boolean wasNotSent(Check check) {
        if (!check.isCompletedExceptionally()) {
            return false;
        }
        Throwable failure = check.handle((answer, thrown) -> thrown).join();
        return failure instanceof BackendException known
                && (known.reason() == Reason.TIMEOUT || known.reason() == Reason.FULL);
    }

    private CompletableFuture<byte[]> send(Flight flight) {
        asked.addAndGet(flight.checks());
        mostInTheAir.accumulateAndGet(inTheAir.incrementAndGet(), Math::max);
        Sent sent = new Sent(flight, new CompletableFuture<>());
        air.add(sent);
        return sent.reply;
    }

    private void land(Random random) {
        while (landing.get()) {
            Sent sent = air.poll();
            if (sent == null) {
                Thread.onSpinWait();
            } else if (random.nextInt(3) == 0) {
                air.add(sent);
            } else {
                byte[] reply = ScriptedReply.admitting(sent.flight);
                inTheAir.decrementAndGet();
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
