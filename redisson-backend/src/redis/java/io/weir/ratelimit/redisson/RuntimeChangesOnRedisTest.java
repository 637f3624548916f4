// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runtime changes of two instances with engines and clients of their own on a real Redis. */
@Tag("redis")
class RuntimeChangesOnRedisTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Optional<String> SECRET = Optional.of("0123456789abcdef");

    private final TestBackend backend = TestBackend.on(RedisFixture.shared().address());
    private TestBackend other;
    private ChangeInstance one;
    private ChangeInstance two;

    @BeforeEach
    void connect() {
        backend.ready();
        other = backend.anotherClient();
        one = instance(backend, SECRET);
        two = instance(other, SECRET);
    }

    @AfterEach
    void disconnect() {
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            redis.drop("weir:1:changes:{" + backend.namespace() + "}:*");
        }
        other.close();
        backend.close();
    }

    private ChangeInstance instance(TestBackend on, Optional<String> secret) {
        return new ChangeInstance(on.backend(), backend.namespace(), secret);
    }

    private RuntimeChange policy(Map<String, String> values) throws Exception {
        return one.make(Kind.POLICY, Optional.empty(), values, HOUR);
    }

    @Test
    void aLimitAppliesOnBothInstancesAndOnALaterOne() throws Exception {
        assertThat(one.allowed("ann", 9)).isEqualTo(2);
        RuntimeChange change = policy(Map.of("limit", "5/24h"));
        two.changes.run();
        assertThat(two.allowed("ann", 9)).isEqualTo(3);
        assertThat(instance(other, SECRET).allowed("ben", 9)).isEqualTo(5);
        two.undo(change);
        one.changes.run();
        assertThat(one.allowed("cid", 9)).isEqualTo(2);
        assertThat(one.changes.log(10)).extracting(RuntimeChange::number).containsExactly(2L, 1L);
    }

    @Test
    void anOverrideAndABlockAreForOneKeyOnBothInstances() throws Exception {
        one.make(Kind.OVERRIDE, Optional.of(one.storedKey("ann")), Map.of("limit", "4/24h"), HOUR);
        two.changes.run();
        assertThat(two.allowed("ann", 9)).isEqualTo(4);
        RuntimeChange block = one.make(Kind.BLOCK, Optional.of(one.storedKey("ben")), Map.of(), HOUR);
        assertThat(two.allowed("ben", 9)).as("a block needs no run").isZero();
        two.changes.run();
        two.undo(block);
        assertThat(one.allowed("ben", 9)).isEqualTo(2);
    }

    @Test
    void aChangeEndsByTheClockOfRedis() throws Exception {
        one.make(Kind.POLICY, Optional.empty(), Map.of("mode", "off"), Duration.ofMillis(300));
        two.changes.run();
        Await.until("the change has ended", Duration.ofSeconds(20), () -> {
            two.changes.run();
            return two.changes.view().active().isEmpty();
        });
        two.changes.run();
        assertThat(two.allowed("ann", 9)).isEqualTo(2);
    }

    @Test
    void theSecondOfTwoOperatorsIsAskedAgain() throws Exception {
        policy(Map.of("limit", "5/24h"));
        assertThatThrownBy(() -> two.make(Kind.POLICY, Optional.empty(), Map.of("limit", "6/24h"), HOUR))
                .isInstanceOf(ChangeConflictException.class);
        assertThat(two.allowed("ann", 9)).isEqualTo(5);
    }

    @Test
    void aStateThatIsNotSignedIsIgnored() throws Exception {
        ChangeInstance unsigned = instance(other, Optional.empty());
        unsigned.make(Kind.POLICY, Optional.empty(), Map.of("mode", "off"), HOUR);
        one.changes.run();
        assertThat(one.changes.view().problem()).contains("the value is not signed");
        assertThat(one.allowed("ann", 9)).isEqualTo(2);
    }

    @Test
    void aBlockThatRedisHasLostIsShownAndNotMadeAgain() throws Exception {
        RuntimeChange block = one.make(Kind.BLOCK, Optional.of(one.storedKey("ben")), Map.of(), HOUR);
        policy(Map.of("limit", "3/24h"));
        two.changes.run();
        assertThat(two.allowed("ben", 9)).isZero();
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            redis.drop("weir:*" + backend.namespace() + "*");
        }
        for (ChangeInstance instance : List.of(one, two)) {
            instance.changes.run();
            assertThat(instance.changes.view().notInForce()).containsOnlyKeys(block.number());
        }
        // The other instance uses its last rejection of this key for a second.
        assertThat(one.allowed("ben", 9))
                .as("only the other change is in force")
                .isEqualTo(3);
    }
}
