// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.LeaseTable;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls at twenty times the rate of a limit with leases, on a clock of the test. */
class OverloadedLeaseTest {
    private static final int CALLS = 40_000;
    private static final int CALL_INTERVAL_MICROS = 50;
    private static final int ONE_WAY_MICROS = 500;
    private static final long PERMITS = 1_000;

    /** Of a batcher, if Redis is as far as here. */
    private static final int MAX_IN_FLIGHT = 2;

    private final ModelTime time = new ModelTime();
    private final LeaseModelBackend redis = new LeaseModelBackend(time);
    private final RedisKeys keys = RedisKeys.of("test");
    private final RejectionCache rejections = new RejectionCache(keys);
    private final Queue<Request> waiting = new ArrayDeque<>();
    private int inFlight;
    private long scripts;
    private long allowed;

    private record Request(Charge charge, CompletableFuture<AcquireResult> reply) {}

    private final LeaseTable leases = new LeaseTable(
            new PermitSource() {
                @Override
                public CompletableFuture<AcquireResult> acquire(Charge charge) {
                    return sent(charge);
                }

                @Override
                public CompletableFuture<Void> refund(Refund refund) {
                    scripts++;
                    redis.refund(refund);
                    return CompletableFuture.completedFuture(null);
                }
            },
            keys,
            rejections,
            this::nanos,
            (nanos, task) -> time.in(nanos / 1_000, task),
            held -> {});

    private long nanos() {
        return time.micros() * 1_000;
    }

    private CompletableFuture<AcquireResult> sent(Charge charge) {
        Request request = new Request(charge, new CompletableFuture<>());
        waiting.add(request);
        sendBatch();
        return request.reply;
    }

    /** Sends the requests that wait in one script call, unless as many are in flight as the batcher allows. */
    private void sendBatch() {
        if (inFlight == MAX_IN_FLIGHT || waiting.isEmpty()) {
            return;
        }
        List<Request> batch = List.copyOf(waiting);
        waiting.clear();
        inFlight++;
        scripts++;
        long sentNanos = nanos();
        time.in(ONE_WAY_MICROS, () -> {
            List<AcquireResult> results = batch.stream()
                    .map(request -> redis.decide(request.charge, sentNanos))
                    .toList();
            time.in(ONE_WAY_MICROS, () -> {
                inFlight--;
                sendBatch();
                for (int i = 0; i < batch.size(); i++) {
                    batch.get(i).reply.complete(received(results.get(i)));
                }
            });
        });
    }

    private AcquireResult received(AcquireResult result) {
        RedisTime decided = result.time();
        return new AcquireResult(
                result.charges(),
                result.hasRoom(),
                result.spent(),
                0,
                new RedisTime(decided.micros(), decided.sentNanos(), nanos()));
    }

    /** Calls, as a backend with leases does. */
    private void call(Charge charge) {
        List<String> stored = keys.of(List.of(charge));
        if (leases.spend(charge, 0, nanos()) != null) {
            allowed++;
        } else if (rejections.findHold(charge, nanos()).isEmpty()
                && rejections.find(List.of(charge), stored, nanos()).isEmpty()) {
            long version = rejections.version(stored);
            CompletableFuture<Void> unused = sent(charge).thenAccept(result -> received(charge, version, result));
        }
    }

    private void received(Charge charge, long version, AcquireResult result) {
        if (result.decision() instanceof Decision.Rejected rejected) {
            if (RejectionCache.isWorthCaching(rejected)) {
                rejections.put(result.charges(), keys.of(List.of(charge)), result.time(), version);
            }
            rejections.recordRejection(charge, rejected, nanos());
        } else {
            allowed++;
            LimitState state = result.charges().get(0).states().get(0);
            leases.recordAllowed(
                    charge, state.remaining(charge.policy().limits().get(0), redis.now()), nanos());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void twentyTimesTheRateSendsLessThanATwentiethOfTheCallsToRedis(Algorithm algorithm) {
        Charge charge = LeasedCalls.charge(100, Limit.of(algorithm, PERMITS, Duration.ofSeconds(1)));
        for (int call = 1; call <= CALLS; call++) {
            call(charge);
            time.passTo((long) call * CALL_INTERVAL_MICROS);
        }
        assertThat(scripts).isLessThan(CALLS / 20);
        assertThat(allowed).isGreaterThanOrEqualTo(PERMITS);
    }
}
