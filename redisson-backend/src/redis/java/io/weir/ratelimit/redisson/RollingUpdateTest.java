// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.runtime.WeirBuilder;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The claims of the page about rolling updates: an old and a new instance on one Redis, with two configurations. */
@Tag("redis")
@Timeout(60)
class RollingUpdateTest {
    private static final String PREFIX = "ratelimit.policies.api.";

    private final String namespace = "rolling-" + UUID.randomUUID();
    private final Weir old = instance("limit=2/1h");
    private Weir updated;

    /** Starts an instance with attributes of the policy, or properties with their whole names. */
    private Weir instance(String... properties) {
        WeirBuilder builder = Weir.builder()
                .property("ratelimit.redis.address", RedisFixture.shared().address())
                .property("ratelimit.redis.deadline", "10s")
                .property("ratelimit.namespace", namespace)
                .property(PREFIX + "on-failure", "closed");
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            builder.property(parts[0].startsWith("ratelimit.") ? parts[0] : PREFIX + parts[0], parts[1]);
        }
        return builder.build();
    }

    @AfterEach
    void close() {
        old.close();
        if (updated != null) {
            updated.close();
        }
    }

    /** Returns how many of ten calls an instance allows. */
    private static long allowed(Weir instance) {
        return IntStream.range(0, 10).filter(call -> call(instance).allowed()).count();
    }

    private static Decision call(Weir instance) {
        return instance.limiter().acquire("api", "alice");
    }

    private static long remaining(Weir instance) {
        return instance.limiter().peek("api", "alice").get(0).remaining();
    }

    @Test
    void aRaisedLimitCountsTheCallsOfBoth() {
        updated = instance("limit=5/1h");
        assertThat(allowed(old)).isEqualTo(2);
        assertThat(allowed(updated)).isEqualTo(3);
        assertThat(allowed(old)).isZero();
    }

    @Test
    void aLoweredLimitRejectsAtNewInstancesOnly() {
        updated = instance("limit=1/1h");
        assertThat(allowed(updated)).isEqualTo(1);
        assertThat(allowed(old)).isEqualTo(1);
        assertThat(remaining(updated)).isZero();
        assertThat(allowed(updated)).isZero();
    }

    @Test
    void anotherCostCountsInOneLimit() {
        updated = instance("limit=2/1h", "cost=2");
        assertThat(call(old).allowed()).isTrue();
        assertThat(call(updated).allowed()).isFalse();
        assertThat(allowed(old)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "limit=2/1d", "limit=2/day",
        "algorithm=fixed-window", "ratelimit.namespace=another",
        "ratelimit.key-secret=a secret of the new instances"
    })
    void anotherWindowAlgorithmNamespaceOrSecretCountsFromZero(String change) {
        updated = change.startsWith("limit=")
                ? instance(change)
                : instance("limit=2/1h", change.replace("another", namespace + "-another"));
        assertThat(allowed(old)).isEqualTo(2);
        assertThat(allowed(updated)).isEqualTo(2);
        assertThat(allowed(old)).isZero();
    }

    /** The first of two updates that change a window. */
    @Test
    void anAddedLimitKeepsTheBoundOfTheOldOne() {
        updated = instance("limit=2/1h, 10/1d");
        assertThat(call(old).allowed()).isTrue();
        assertThat(allowed(updated)).isEqualTo(1);
        assertThat(allowed(old)).isZero();
    }

    @Test
    void sharedSlotsAreThoseOfBoth() {
        updated = instance("limit=100/1h", "concurrency=2");
        try (Weir first = instance("limit=100/1h", "concurrency=1")) {
            assertThat(call(first).allowed()).isTrue();
            assertThat(allowed(updated)).isEqualTo(1);
            assertThat(allowed(first)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shadow", "off"})
    void aPolicyThatIsNotEnforcedRejectsAtOldInstancesOnly(String mode) {
        updated = instance("limit=2/1h", "mode=" + mode);
        assertThat(allowed(updated)).isEqualTo(10);
        assertThat(allowed(old)).isEqualTo(mode.equals("shadow") ? 0 : 2);
    }

    @Test
    void anInstanceThatStopsLeavesItsCountAndFreesItsSlots() {
        updated = instance("limit=5/1h", "concurrency=2");
        // An instance remembers a rejection for a second, so another one shows that the slots are taken.
        try (Weir stopped = instance("limit=5/1h", "concurrency=2");
                Weir other = instance("limit=5/1h", "concurrency=2")) {
            assertThat(allowed(stopped)).isEqualTo(2);
            assertThat(allowed(other)).isZero();
            stopped.close();
            assertThat(allowed(updated)).isEqualTo(2);
            assertThat(remaining(updated)).isEqualTo(1);
        }
    }
}
