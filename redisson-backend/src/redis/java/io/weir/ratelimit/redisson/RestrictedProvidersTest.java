// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Limit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The backend in a JVM whose security providers have neither SHA-1 nor MD5 nor SHA1PRNG, as in a strict FIPS mode. */
@Tag("redis")
class RestrictedProvidersTest {
    /** The algorithms of the provider SUN that such a JVM has. */
    private static final class Approved extends Provider {
        private static final long serialVersionUID = 1;

        Approved() {
            super("approved", "1", "SHA-2 and a random number generator");
            put("MessageDigest.SHA-256", "sun.security.provider.SHA2$SHA256");
            put("SecureRandom.Approved", Numbers.class.getName());
        }
    }

    /** Random numbers. Those of the JVM need SHA-1 of their own provider. */
    public static final class Numbers extends SecureRandomSpi {
        private static final long serialVersionUID = 1;

        private final transient SplittableRandom random = new SplittableRandom();

        /** Creates the numbers. */
        public Numbers() {}

        @Override
        protected void engineSetSeed(byte[] seed) {
            // The seed is that of the instance.
        }

        @Override
        protected synchronized void engineNextBytes(byte[] bytes) {
            random.nextBytes(bytes);
        }

        @Override
        protected byte[] engineGenerateSeed(int length) {
            byte[] seed = new byte[length];
            engineNextBytes(seed);
            return seed;
        }
    }

    @Test
    @Tag("field")
    void decidesAndRefundsAndSendsLostScriptsWithoutSha1() throws IOException, InterruptedException {
        try (TestFolder folder = TestFolder.create();
                RedisProcess redis = RedisProcess.started()) {
            Path log = folder.path().resolve("child.log");
            try (ChildJvm child = ChildJvm.withLog(log, RestrictedProvidersTest.class, redis.address())) {
                assertThat(child.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(Files.readString(log)).contains("remaining 96").doesNotContain("WEIR-412");
            }
        }
    }

    /** Runs in a JVM of its own, because the providers of a JVM are used when classes are initialized. */
    public static void main(String[] arguments) {
        Security.removeProvider("SUN");
        Security.insertProviderAt(new Approved(), 1);
        for (String algorithm : List.of("SHA-1", "MD5")) {
            assertThatThrownBy(() -> MessageDigest.getInstance(algorithm)).isInstanceOf(NoSuchAlgorithmException.class);
        }
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofHours(1));
        RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, arguments[0])).started();
        try (RedisConnection redis = RedisConnection.to(arguments[0])) {
            FaultCalls.awaitDecision(backend);
            for (int call = 0; call < 5; call++) {
                redis.call("SCRIPT", "FLUSH");
                Decision decision = backend.acquire(List.of(TestBackend.charge("k.a", 1, limit)));
                if (call == 0) {
                    backend.refund(decision.receipt()).toCompletableFuture().join();
                }
            }
            System.out.println("remaining "
                    + backend.peek(List.of(TestBackend.charge("k.a", 1, limit)))
                            .get(0)
                            .remaining());
        } finally {
            backend.close();
        }
    }
}
