// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.history.History.Span;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A long answer of Redis is one of a slow machine, unless a fault of the nemesis causes it. */
class PingsTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofSeconds(1);

    @TempDir
    Path folder;

    @Test
    void reportALongAnswer() {
        try (SingleRedis servers = new SingleRedis(1, folder, false)) {
            RedisProcess redis = servers.redis();
            Pings pings = new Pings(servers);
            pings.send(span -> {});
            redis.pause();
            CompletableFuture<Span> slow = new CompletableFuture<>();
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> pings.send(slow::complete));
            long paused = System.nanoTime();
            Await.until("a long time", WITHIN, () -> System.nanoTime() - paused > LONG.toNanos());
            redis.resume();
            sent.join();
            assertThat(slow).isCompletedWithValueMatching(span -> span.to() - span.from() > LONG.toNanos() / 2);
        }
    }

    @Test
    void areNotSentDuringAFaultOfRedis() {
        try (SingleRedis servers = new SingleRedis(1, folder, false);
                RedisConnection connection = servers.redis().connect()) {
            Pings pings = new Pings(servers);
            pings.send(span -> {});
            String once = pingsOf(connection);
            pings.beginFault();
            pings.send(span -> {});
            assertThat(pingsOf(connection)).isEqualTo(once);
            pings.endFault();
            pings.send(span -> {});
            assertThat(pingsOf(connection)).isNotEqualTo(once);
        }
    }

    private static String pingsOf(RedisConnection connection) {
        return connection
                .text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_ping:"))
                .findFirst()
                .orElseThrow();
    }
}
