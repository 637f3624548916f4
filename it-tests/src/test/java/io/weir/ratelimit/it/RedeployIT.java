// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.Await;
import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One server to which the application is deployed again and again, while Redis is there and while it is away: nothing stays. */
class RedeployIT {
    private static final int TIMES =
            Integer.getInteger("weir.test.redeployments", Boolean.getBoolean("weir.test.full") ? 20 : 5);
    private static final int AWAY = Math.max(2, TIMES / 4);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    /** Class loaders of an application that is gone, which a server's caches may keep for a while. */
    private static final int STALE = 2;

    private static final int REQUESTS_AT_ONCE = 8;

    private final RedisProcess redis = RedisProcess.started();
    private Server server;
    private Jvm jvm;
    private int deployments = 1;

    /**
     * How an application comes to a running server once more.
     *
     * @param deploy makes the server do it, which takes a while
     * @param repeatAfter how long to wait before it is said once more
     * @param done what the log says at the end
     */
    private record Again(Deploy deploy, Duration repeatAfter, Pattern done) {
        private interface Deploy {
            void in(Path directory) throws IOException;
        }

        /** By another file of the same name. */
        static Again byWar(String name, String done) {
            return new Again(
                    directory -> {
                        Path war = directory.resolve(name);
                        Path copy = Files.copy(war, directory.resolve("copy.war"), StandardCopyOption.REPLACE_EXISTING);
                        Files.move(copy, war, StandardCopyOption.REPLACE_EXISTING);
                    },
                    PATIENCE,
                    Pattern.compile(done));
        }

        /**
         * By the time of a file. It is overlooked if the server has not yet looked at the application since it was deployed, and while it
         * deploys.
         */
        static Again byTouching(String name, String done) {
            return new Again(
                    directory -> Files.writeString(directory.resolve(name), ""),
                    Duration.ofSeconds(10),
                    Pattern.compile(done));
        }
    }

    @Test
    void openLiberty() {
        leavesNothingBehind(
                LibertyServer.named("redeployed"),
                Again.byWar("servers/redeployed/apps/weir-example-openliberty.war", "CWWKZ0003I"),
                () -> 1 + STALE);
    }

    @Test
    void payara() {
        leavesNothingBehind(
                PayaraServer.named("redeployed-payara").expanded(),
                Again.byTouching("application/.reload", "was successfully deployed in"),
                this::notEach);
    }

    @Test
    void wildFly() {
        leavesNothingBehind(
                WildFlyServer.named("redeployed-wildfly"),
                Again.byWar("deployments/ROOT.war", "WFLYSRV0016"),
                this::notEach);
    }

    /** Threads of these servers' pools keep what they were started under, of an application without the library too. */
    private int notEach() {
        return deployments - 1;
    }

    private void leavesNothingBehind(ServerBuilder<?> kind, Again again, IntSupplier mostLoaders) {
        try (redis;
                Server started = kind.systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "500ms")
                        .jvmOption("-XX:SoftRefLRUPolicyMSPerMB=0")
                        .start()) {
            server = started;
            jvm = Jvm.of(server);
            redeploy(again);
            awaitStore();
            Footprint baseline = footprint();
            for (int i = 0; i < TIMES; i++) {
                redeploy(again);
                awaitStore();
            }
            verify(baseline, TIMES + " deployments", mostLoaders);

            redis.kill();
            Await.until("the breaker is open", PATIENCE, () -> search() == 200 && said("WEIR-416") > 0);
            for (int i = 0; i < AWAY; i++) {
                redeploy(again);
                assertThat(search()).isEqualTo(200);
            }
            redis.start();
            awaitStore();
            verify(baseline, "deployments without Redis", mostLoaders);
        }
    }

    /**
     * What the application takes of its server and of Redis.
     *
     * @param threads of the library's client, and of its own
     * @param allThreads of the server
     * @param sockets of the server that lead to Redis
     * @param connections that Redis knows of
     */
    private record Footprint(int threads, int allThreads, int sockets, int connections) {}

    private Footprint footprint() {
        return new Footprint(
                jvm.threads("redisson").size() + jvm.threads("weir").size(),
                jvm.threads(),
                jvm.socketsTo(redis.port()),
                connections());
    }

    private int connections() {
        try (RedisConnection connection = redis.connect()) {
            return (int) connection.text("CLIENT", "LIST").lines().count() - 1;
        }
    }

    private void verify(Footprint baseline, String after, IntSupplier mostLoaders) {
        int[] loaders = {0};
        try {
            // Threads of a pool may be kept for a minute.
            Await.until("the baseline", PATIENCE.multipliedBy(2), () -> {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
                occupyThreads();
                Footprint now = footprint();
                // What is freed in one collection may free another loader in the next.
                loaders[0] = jvm.loadersOf("io.weir.ratelimit.RateLimiter");
                return now.threads <= baseline.threads
                        && now.allThreads <= baseline.allThreads + 10
                        && now.sockets <= baseline.sockets
                        && now.connections <= baseline.connections
                        && loaders[0] <= mostLoaders.getAsInt();
            });
        } finally {
            System.out.printf(
                    "Redeployed, %s: %s, before %s; class loaders %d%n", after, footprint(), baseline, loaders[0]);
        }
        assertThat(loaders[0]).isPositive();
    }

    /** A thread that waits for work may keep the last request that it has answered: WildFly's keep that of any application. */
    private void occupyThreads() {
        URI health = server.baseUri().resolve("api/health");
        Stream.generate(() -> Http.getAsync(health))
                .limit(REQUESTS_AT_ONCE)
                .toList()
                .forEach(CompletableFuture::join);
    }

    private void redeploy(Again again) {
        deployments++;
        long before = count(again.done);
        long[] next = {System.nanoTime()};
        Await.until("deployed again", PATIENCE, LOOK_EVERY, () -> {
            if (count(again.done) > before) {
                return true;
            }
            if (System.nanoTime() - next[0] >= 0) {
                deploy(again);
                next[0] = System.nanoTime() + again.repeatAfter.toNanos();
            }
            return false;
        });
    }

    private void deploy(Again again) {
        try {
            again.deploy.in(server.directory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Decisions are those of the store. */
    private void awaitStore() {
        Await.until(
                "a quota",
                PATIENCE,
                () -> Http.get(uri()).headers().firstValue("RateLimit").isPresent());
    }

    private int search() {
        return Http.get(uri()).statusCode();
    }

    private URI uri() {
        return server.baseUri().resolve("api/search");
    }

    private long said(String message) {
        return count(Pattern.compile(message));
    }

    private long count(Pattern pattern) {
        return pattern.matcher(server.log()).results().count();
    }
}
