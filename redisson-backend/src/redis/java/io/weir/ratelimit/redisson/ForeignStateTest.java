// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A foreign value under a key is reported and never overwritten. */
@Tag("redis")
class ForeignStateTest {
    private static final Limit FIXED = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1));
    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1));
    private static final Limit BUCKET = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofHours(1));
    private static final Limit LEAKY = Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofHours(1));

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    @BeforeEach
    void connect() {
        fixture.ready();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
    }

    static Stream<Arguments> foreign() {
        return limits().flatMap(limit -> Stream.of(
                        "",
                        "5",
                        "1763638242",
                        "13 bytes long",
                        "15 bytes of it.",
                        "19 bytes of garbage",
                        "\u00ff".repeat(13),
                        "\u00ff".repeat(15),
                        "\u00ff".repeat(19),
                        // a bucket with an invalid unit
                        "\0".repeat(14) + "\u0007",
                        "\0".repeat(14) + "\u00ff",
                        "a text that is longer than the state of any limit could ever be, whatever it is")
                .map(text -> Arguments.of(limit, text)));
    }

    @ParameterizedTest
    @MethodSource("foreign")
    void reportsAForeignStringAndKeepsIt(Limit limit, String text) {
        String key = fixture.key("k.a");
        redis.call("SET", key, text.getBytes(ISO_8859_1));
        assertReportedAndKept(limit, key);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reportsAKeyOfAnotherTypeAndKeepsIt(Limit limit) {
        String key = fixture.key("k.a");
        for (Object[] command :
                List.of(new Object[] {"RPUSH", key, "a", "b"}, new Object[] {"HSET", key, "a", "b"}, new Object[] {
                    "ZADD", key, "1", "b"
                })) {
            redis.call(command);
            assertReportedAndKept(limit, key);
            redis.call("DEL", key);
        }
    }

    static Stream<Limit> limits() {
        return Stream.of(FIXED, WINDOW, BUCKET, LEAKY);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reportsAStateOfAnotherLengthAndKeepsIt(Limit limit) {
        fixture.acquire("k.b", 1, limit);
        byte[] state = redis.bytes(fixture.key("k.b"));
        for (int length : new int[] {1, 5, 6, 7, state.length - 1, state.length + 1}) {
            redis.call("SET", fixture.key("k.a"), Arrays.copyOf(state, length));
            assertReportedAndKept(limit, fixture.key("k.a"));
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reportsAStateWithAnInvalidSectionAndKeepsIt(Limit limit) {
        fixture.acquire("k.b", 1, limit);
        byte[] state = redis.bytes(fixture.key("k.b"));
        for (String section : List.of(
                // windows of 0 ms, and of 1 ms more than 366 days
                "f" + "\0".repeat(18),
                "f\u0007\\\u00d7\u0088\u0001" + "\0".repeat(13),
                // counts that are too large, an invalid unit, a log without entries
                "s\0\0\0\0\u0001" + "\u00ff".repeat(19),
                "t\0\0\0\0\u0001" + "\0".repeat(14) + "\u0007" + "\0".repeat(7),
                "g\0\0\0\0\u0001" + "\0".repeat(6))) {
            byte[] other = section.getBytes(ISO_8859_1);
            byte[] both = Arrays.copyOf(state, state.length + other.length);
            System.arraycopy(other, 0, both, state.length, other.length);
            redis.call("SET", fixture.key("k.a"), both);
            assertReportedAndKept(limit, fixture.key("k.a"));
        }
    }

    private void assertReportedAndKept(Limit limit, String key) {
        byte[] before = (byte[]) redis.call("DUMP", key);
        long writes = redis.writes();
        assertForeign(() -> fixture.backend()
                .acquire(List.of(
                        TestBackend.charge("k.first", 1, WINDOW),
                        TestBackend.charge("k.a", 1, limit),
                        TestBackend.charge("k.last", 1, BUCKET))));
        assertForeign(() -> fixture.backend().peek(List.of(TestBackend.charge("k.a", 1, limit))));
        assertForeign(() -> new TestedBackend(fixture.backend()).refund(TestBackend.charge("k.a", 1, limit)));
        assertForeign(() -> fixture.backend()
                .reset(List.of(TestBackend.charge("k.a", 1, limit).policy()), "k.a"));
        assertThat((byte[]) redis.call("DUMP", key)).isEqualTo(before);
        assertThat(redis.number("PTTL", key)).isEqualTo(-1);
        assertThat(redis.writes()).isEqualTo(writes);
        assertThat(redis.keys(fixture.pattern())).doesNotContain(fixture.key("k.first"), fixture.key("k.last"));
    }

    private static void assertForeign(ThrowingCallable call) {
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.FOREIGN_STATE))
                .withMessageNotContaining("k.a");
    }

    @Test
    void leavesOutAShadowChargeWithAForeignValue() {
        String key = fixture.key("k.bad");
        redis.call("RPUSH", key, "a", "b");
        Charge foreign = TestBackend.charge("k.bad", 1, FIXED).asShadow();
        Charge good = TestBackend.charge("k.s", 1, FIXED).asShadow();
        Charge enforced = TestBackend.charge("k.a", 1, FIXED);
        Decision decision = fixture.backend().acquire(List.of(foreign, enforced, good));
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.quotas()).hasSize(1);
        assertThat(decision.shadowQuotas()).hasSize(1);
        assertThat(fixture.backend().acquire(List.of(foreign, good)).shadowQuotas())
                .hasSize(1);
        assertThat(fixture.remaining("k.s", FIXED)).isEqualTo(8);
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> fixture.backend().acquire(List.of(foreign)))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(BackendException.Reason.FOREIGN_STATE));
        assertThat(redis.number("LLEN", key)).isEqualTo(2);
    }
}
