// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server on which the application is deployed repeatedly, with and without Redis. No resources remain. */
@Tag("server")
@Tag("ci")
class RedeployIT {
    private static final int TIMES =
            Integer.getInteger("weir.test.redeployments", Boolean.getBoolean("weir.test.full") ? 20 : 5);
    private static final int TIMES_WITHOUT_REDIS = Math.max(2, TIMES / 4);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    /** Class loaders of undeployed applications that caches of a server can keep for a while. */
    private static final int STALE = 2;

    private static final String BREAKER_OPEN = "ratelimit.breaker.open";
    private static final int REQUESTS_AT_ONCE = 8;

    private final RedisProcess redis = RedisProcess.started();
    private final OtlpReceiver collector = new OtlpReceiver();
    private Server server;
    private Jvm jvm;
    private int deployments = 1;

    /**
     * A way to deploy the application again to a running server.
     *
     * @param deploy triggers the deployment
     * @param repeatAfter the time after which the trigger is repeated
     * @param done the log message at the end of the deployment
     */
    private record Redeployment(Deploy deploy, Duration repeatAfter, Pattern done) {
        private interface Deploy {
            void in(Path directory) throws IOException;
        }

        /** Replaces the WAR. */
        static Redeployment byWar(String name, String done) {
            return new Redeployment(
                    directory -> {
                        Path war = directory.resolve(name);
                        Path copy = Files.copy(war, directory.resolve("copy.war"), StandardCopyOption.REPLACE_EXISTING);
                        Files.move(copy, war, StandardCopyOption.REPLACE_EXISTING);
                    },
                    TIMEOUT,
                    Pattern.compile(done));
        }

        /**
         * Touches a file. The server ignores this during a deployment, and before its first check after a deployment.
         */
        static Redeployment byTouching(String name, String done) {
            return new Redeployment(
                    directory -> Files.writeString(directory.resolve(name), ""),
                    Duration.ofSeconds(10),
                    Pattern.compile(done));
        }
    }

    @Test
    @Tag("field")
    void openLiberty() {
        releasesEverything(
                ObservabilityIT.exporting(LibertyServer.named("redeployed"), collector),
                Redeployment.byWar("servers/redeployed/apps/weir-example-openliberty.war", "CWWKZ0003I"),
                () -> 1 + STALE,
                true);
    }

    @Test
    void payara() {
        releasesEverything(
                PayaraServer.named("redeployed-payara").expanded(),
                Redeployment.byTouching("application/.reload", "was successfully deployed in"),
                this::lessThanOnePerDeployment,
                false);
    }

    @Test
    void wildFly() {
        releasesEverything(
                WildFlyServer.named("redeployed-wildfly"),
                Redeployment.byWar("deployments/ROOT.war", "WFLYSRV0016"),
                this::lessThanOnePerDeployment,
                false);
    }

    /** Pool threads of these servers keep the context in which they were started, with or without the library. */
    private int lessThanOnePerDeployment() {
        return deployments - 1;
    }

    private void releasesEverything(
            ServerBuilder<?> kind, Redeployment redeployment, IntSupplier maxLoaders, boolean exports) {
        try (redis;
                collector;
                Server started = kind.systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "500ms")
                        .jvmOption("-XX:SoftRefLRUPolicyMSPerMB=0")
                        .start()) {
            server = started;
            jvm = Jvm.of(server);
            redeploy(redeployment);
            awaitBackend();
            Footprint baseline = footprint();
            for (int i = 0; i < TIMES; i++) {
                redeploy(redeployment);
                awaitBackend();
            }
            verify(baseline, TIMES + " deployments", maxLoaders);

            redis.kill();
            Await.until("the breaker is open", TIMEOUT, () -> search() == 200 && count("WEIR-416") > 0);
            if (exports) {
                Await.until("the breaker is exported", TIMEOUT, () -> collector.sum(BREAKER_OPEN) == 1);
            }
            for (int i = 0; i < TIMES_WITHOUT_REDIS; i++) {
                redeploy(redeployment);
                assertThat(search()).isEqualTo(200);
            }
            redis.start();
            awaitBackend();
            verify(baseline, "deployments without Redis", maxLoaders);
            if (exports) {
                // The SDK of the server outlives the deployments that ended with an open breaker.
                Await.until("no breaker is open", TIMEOUT, () -> collector.sum(BREAKER_OPEN) == 0);
            }
        }
    }

    /**
     * The resources of the application.
     *
     * @param threads the threads of Redisson and of the library
     * @param allThreads the threads of the server
     * @param sockets the sockets of the server to Redis
     * @param connections the connections in Redis
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

    private void verify(Footprint baseline, String after, IntSupplier maxLoaders) {
        int[] loaders = {0};
        try {
            // Pool threads can live for a minute.
            Await.until("the baseline", TIMEOUT.multipliedBy(2), () -> {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
                occupyThreads();
                Footprint now = footprint();
                // One collection can make another class loader collectable.
                loaders[0] = jvm.loadersOf("io.weir.ratelimit.RateLimiter");
                return now.threads <= baseline.threads
                        && now.allThreads <= baseline.allThreads + 10
                        && now.sockets <= baseline.sockets
                        && now.connections <= baseline.connections
                        && loaders[0] <= maxLoaders.getAsInt();
            });
        } finally {
            System.out.printf(
                    "Redeployed, %s: %s, before %s; class loaders %d%n", after, footprint(), baseline, loaders[0]);
        }
        assertThat(loaders[0]).isPositive();
    }

    /** Sends requests to all pool threads, because an idle thread of WildFly keeps the last request of any application. */
    private void occupyThreads() {
        URI health = server.baseUri().resolve("api/health");
        Stream.generate(() -> Http.getAsync(health))
                .limit(REQUESTS_AT_ONCE)
                .toList()
                .forEach(CompletableFuture::join);
    }

    private void redeploy(Redeployment redeployment) {
        deployments++;
        long before = count(redeployment.done);
        long[] next = {System.nanoTime()};
        Await.until("deployed again", TIMEOUT, POLL_INTERVAL, () -> {
            if (count(redeployment.done) > before) {
                return true;
            }
            if (System.nanoTime() - next[0] >= 0) {
                deploy(redeployment);
                next[0] = System.nanoTime() + redeployment.repeatAfter.toNanos();
            }
            return false;
        });
    }

    private void deploy(Redeployment redeployment) {
        try {
            redeployment.deploy.in(server.directory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until the backend decides. */
    private void awaitBackend() {
        Await.until(
                "a quota",
                TIMEOUT,
                () -> Http.get(uri()).headers().firstValue("RateLimit").isPresent());
    }

    private int search() {
        return Http.get(uri()).statusCode();
    }

    private URI uri() {
        return server.baseUri().resolve("api/search");
    }

    private long count(String message) {
        return count(Pattern.compile(message));
    }

    private long count(Pattern pattern) {
        return pattern.matcher(server.log()).results().count();
    }
}
