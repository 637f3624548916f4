// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("redis")
class ContendersTest {
    private static final int PERMITS = 5;
    private static final Workload SMALL_LIMIT = new Workload("small", 2, 1, PERMITS);
    private static final Workload THREE_SMALL_LIMITS = new Workload("three-small", 2, 3, PERMITS);
    private static final Workload THREE_POLICIES = new Workload("policies-small", 2, 3, PERMITS, true);

    private static final Options PATIENT = Options.parse("--deadline", "60000");

    /** The keys of Redis begin with this part in every contender. Some limiters append a suffix to it. */
    private static final Pattern LIMIT_KEY = Pattern.compile("weir:2:\\{[^}]+\\}:standard");

    private static RedisProcess process;
    private static RedisUnderTest redis;

    @BeforeAll
    static void start() {
        process = RedisProcess.started();
        redis = RedisUnderTest.single(process.address());
    }

    @AfterAll
    static void stop() {
        redis.close();
        process.close();
    }

    @Test
    void eachLimiterAllowsAsManyCallsAsTheLimitHasPermits() {
        assertAllowed(SMALL_LIMIT);
        assertAllowed(THREE_SMALL_LIMITS);
        assertAllowed(THREE_POLICIES);
    }

    private static void assertAllowed(Workload workload) {
        try (Contenders contenders = new Contenders(redis, workload, PATIENT)) {
            List<MeasuredContender> limiters = contenders.limiters();
            assertThat(limiters).hasSizeGreaterThan(9);
            for (MeasuredContender limiter : limiters) {
                // The construction has used every key once.
                for (int call = 1; call < 2 * workload.keys() * PERMITS - workload.keys(); call++) {
                    limiter.decide();
                }
                assertThat(limiter.failed()).as(limiter.limiter().name()).isZero();
                assertThat(limiter.allowed()).as(limiter.limiter().name()).isEqualTo((long) workload.keys() * PERMITS);
            }
        }
    }

    @Test
    void keysOfAllContendersHaveTheSameLength() {
        try (Contenders unused = new Contenders(redis, Workload.HOT_KEY, PATIENT);
                RedisConnection connection = process.connect()) {
            // The self-test of a backend can still be under way.
            Set<String> keys = connection.keys("*-hot-*").stream()
                    .filter(key -> !key.endsWith(":self-test"))
                    .collect(Collectors.toSet());
            assertThat(keys).hasSizeGreaterThan(unused.all().size() - 2);
            assertThat(keys).allMatch(key -> LIMIT_KEY.matcher(key).lookingAt());
            assertThat(keys.stream()
                            .map(key -> LIMIT_KEY
                                    .matcher(key)
                                    .results()
                                    .findFirst()
                                    .orElseThrow()
                                    .group()
                                    .length())
                            .collect(Collectors.toSet()))
                    .hasSize(1);
        }
    }
}
