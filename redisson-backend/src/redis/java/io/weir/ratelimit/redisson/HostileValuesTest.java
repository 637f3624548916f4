// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.Growth;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that a neighbor on the same Redis has written. Redis has no other clients, so its processor time is that of the scripts. */
@Tag("redis")
class HostileValuesTest {
    private static final int MAX_LIST = 49_000;
    private static final int REPEATED = 5;
    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, 60, Duration.ofMinutes(1));
    private static final Duration LONGEST = Duration.ofDays(2 * 366);

    private static RedisProcess process;
    private static RedisConnection redis;

    private TestBackend fixture;

    @BeforeAll
    static void start() {
        process = RedisProcess.started();
        redis = process.connect();
    }

    @AfterAll
    static void stop() {
        redis.close();
        process.close();
    }

    @BeforeEach
    void connect() {
        redis.call("FLUSHALL");
        fixture = TestBackend.on(process.address()).ready();
    }

    @AfterEach
    void disconnect() {
        fixture.close();
    }

    /** Returns the processor time of Redis so far, in microseconds. */
    private static long micros() {
        return redis.text("INFO", "cpu")
                .lines()
                .filter(line -> line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:"))
                .mapToLong(line -> Math.round(Double.parseDouble(line.substring(line.indexOf(':') + 1)) * 1e6))
                .sum();
    }

    private static String repeat(String text, int length) {
        return text.repeat(length / text.length());
    }

    private String fleetKey(String part) {
        return "weir:1:fleet:{" + fixture.namespace() + "}:" + part;
    }

    private String presenceKey() {
        return "weir:2:{" + fixture.namespace() + ":instances}:+present";
    }

    private int present() {
        return fixture.backend()
                .capability(FleetStore.Presence.class)
                .orElseThrow()
                .present("a1")
                .toCompletableFuture()
                .join();
    }

    private void report() {
        fixture.backend()
                .capability(FleetStore.class)
                .orElseThrow()
                .report("a1", new byte[] {1}, Map.of(7L, "1 0 *\n".getBytes(US_ASCII)))
                .toCompletableFuture()
                .join();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "1", "a 1", "a1 ", "1 1 ", "\n", "a\n", " ", "a 1\n"})
    @Tag("field")
    void aListOfInstancesCostsAReportLinearTime(String part) {
        Growth.isLinearBy("a list of " + part, MAX_LIST, size -> {
            long before = micros();
            for (int i = 0; i < REPEATED; i++) {
                redis.call("SET", fleetKey("instances"), repeat(part, size));
                report();
            }
            return micros() - before;
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1 ", "1 1 ", "1 1 a", "1 1 a\n", "\n", "1 1\n"})
    @Tag("field")
    void aStepOfTheHistoryCostsAReportLinearTime(String part) {
        Growth.isLinearBy("a step of " + part, FleetStore.MAX_STEP_BYTES, size -> {
            long before = micros();
            for (int i = 0; i < REPEATED; i++) {
                redis.call("SET", fleetKey("history:7"), repeat(part, size));
                report();
            }
            return micros() - before;
        });
    }

    @Test
    void aStepWithManyNamesCostsAReportLinearTime() {
        String all = IntStream.range(0, 2_000).mapToObj(i -> "1 0 =" + i + "\n").collect(Collectors.joining());
        Growth.isLinearBy("a step of names", FleetStore.MAX_STEP_BYTES, size -> {
            long before = micros();
            for (int i = 0; i < REPEATED; i++) {
                redis.call("SET", fleetKey("history:7"), all.substring(0, size));
                report();
            }
            return micros() - before;
        });
    }

    @Test
    @Tag("field")
    void noScriptOfOperatorsReadsMoreThanTheLongestValue() {
        String large = "1".repeat(8_000_000);
        String state = "weir:1:changes:{" + fixture.namespace() + "}:state";
        for (String key :
                List.of(fleetKey("instances"), fleetKey("history:7"), fleetKey("report:a1"), state, presenceKey())) {
            redis.call("SET", key, large);
        }
        redis.call("CONFIG", "RESETSTAT");
        fixture.backend()
                .capability(FleetStore.class)
                .orElseThrow()
                .history(List.of(7L))
                .toCompletableFuture()
                .join();
        fixture.backend()
                .capability(ChangeStore.class)
                .orElseThrow()
                .read("")
                .toCompletableFuture()
                .join();
        report();
        assertThat(present()).isEqualTo(1);
        assertThat(redis.calls("getrange")).isEqualTo(6);
        assertThat(redis.calls("get")).isZero();
    }

    @Test
    void theReportsOfAllInstancesAreBounded() {
        int reports = 300;
        String now = redis.text("TIME");
        redis.call(
                "SET",
                fleetKey("instances"),
                IntStream.range(0, reports)
                        .mapToObj(i -> "i" + i + " " + System.currentTimeMillis() + "\n")
                        .collect(Collectors.joining()));
        String largest = "x".repeat(FleetStore.MAX_REPORT_BYTES);
        for (int i = 0; i < reports; i++) {
            redis.call("SET", fleetKey("report:i" + i), largest);
        }
        List<FleetStore.StoredReport> found = fixture.backend()
                .capability(FleetStore.class)
                .orElseThrow()
                .reports()
                .toCompletableFuture()
                .join();
        assertThat(now).isNotEmpty();
        assertThat(found).hasSize(reports);
        assertThat(found.stream().filter(report -> report.content().isPresent()))
                .hasSize(256);
    }

    /** Returns a section of a later version, which ends at an instant. */
    private static byte[] section(char letter, long window, long end, int length) {
        ByteBuffer section = ByteBuffer.allocate(15 + length);
        section.put((byte) letter);
        put(section, window, 5);
        put(section, end, 7);
        put(section, length, 2);
        return section.array();
    }

    private static void put(ByteBuffer out, long number, int width) {
        for (int i = width - 1; i >= 0; i--) {
            out.put((byte) (number >>> (8 * i)));
        }
    }

    private static byte[] repeat(byte[] section, int count) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            all.writeBytes(section);
        }
        return all.toByteArray();
    }

    static Stream<byte[]> sections() {
        long late = (1L << 53) - 1;
        ByteBuffer other = ByteBuffer.allocate(25).put((byte) 's');
        put(other, 5_000, 5);
        put(other, late / 2, 7);
        ByteBuffer own = ByteBuffer.allocate(25).put((byte) 's');
        put(own, 60_000, 5);
        put(own, late / 2, 7);
        return Stream.of(
                section('z', 1, late, 0), section('b', 1, late, 0), section('z', 1, 1, 0), other.array(), own.array());
    }

    @ParameterizedTest
    @MethodSource("sections")
    @Tag("field")
    void theSectionsOfAKeyCostADecisionLinearTime(byte[] section) {
        Growth.isLinearBy("sections", 1_000, count -> {
            long before = micros();
            for (int i = 0; i < REPEATED; i++) {
                redis.call("SET", fixture.key("k.a"), repeat(section, count));
                fixture.acquire("k.a", 1, WINDOW);
            }
            return micros() - before;
        });
    }

    @ParameterizedTest
    @MethodSource("sections")
    @Tag("field")
    void aValueThatIsTooLongFailsItsKeyOnlyAndIsKept(byte[] section) {
        for (int count : new int[] {1_002, 20_000}) {
            byte[] value = repeat(section, count);
            redis.call("SET", fixture.key("k.a"), value);
            assertForeign("k.a");
            assertThat(fixture.acquire("k.b", 1, WINDOW).allowed()).isTrue();
            assertThat(redis.bytes(fixture.key("k.a"))).isEqualTo(value);
        }
    }

    @Test
    void theBytesOfAValueAreBounded() {
        byte[] section = section('z', 1, (1L << 53) - 1, 65_000);
        redis.call("SET", fixture.key("k.a"), repeat(section, 18));
        assertThat(fixture.acquire("k.a", 1, WINDOW).allowed()).isTrue();
        redis.call("SET", fixture.key("k.a"), repeat(section, 19));
        assertForeign("k.a");
    }

    private void assertForeign(String storedKey) {
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> fixture.acquire(storedKey, 1, WINDOW))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.FOREIGN_STATE));
    }

    @Test
    @Tag("field")
    void aForeignSectionDoesNotKeepAKeyForCenturies() {
        long late = (1L << 53) - 1;
        redis.call("SET", fixture.key("k.a"), section('z', 1, late, 4));
        assertThat(fixture.acquire("k.a", 1, WINDOW).allowed()).isTrue();
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isBetween(1L, LONGEST.toMillis());
        byte[] slots = ByteBuffer.allocate(15 + 7 + 19).array();
        ByteBuffer held = ByteBuffer.wrap(slots).put((byte) 'n');
        put(held, 1, 5);
        put(held, late, 7);
        put(held, 26, 2);
        put(held, late, 7);
        put(held, 1, 6);
        put(held, 1, 6);
        put(held, late, 7);
        redis.call("SET", fixture.key("k.b"), slots);
        assertThat(fixture.acquire("k.b", 1, Limit.concurrency(5, Duration.ofMinutes(1)))
                        .allowed())
                .isTrue();
        assertThat(redis.number("PTTL", fixture.key("k.b"))).isBetween(1L, LONGEST.toMillis());
    }

    private static final List<Limit> LIMITS = List.of(
            WINDOW,
            Limit.of(Algorithm.FIXED_WINDOW, 60, Duration.ofMinutes(1)),
            Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofMinutes(1)),
            Limit.of(Algorithm.SLIDING_LOG, 60, Duration.ofMinutes(1)),
            Limit.concurrency(5, Duration.ofMinutes(1)));

    /** Random values from sections of all letters, whose numbers are random, small or those of now. */
    private static byte[] value(Random random) {
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        String letters = "fstlgcndbpz";
        for (int sections = random.nextInt(4); sections >= 0; sections--) {
            int length = random.nextInt(3) == 0 ? 0 : random.nextInt(40);
            byte[] section = new byte[15 + length];
            random.nextBytes(section);
            ByteBuffer out = ByteBuffer.wrap(section).put((byte) letters.charAt(random.nextInt(letters.length())));
            put(out, random.nextBoolean() ? 60_000 : 1, 5);
            long now = (System.currentTimeMillis() - 1_735_689_600_000L) * 1_000;
            put(out, random.nextBoolean() ? now - random.nextInt(60_000_000) : random.nextLong() >>> 10, 7);
            put(out, length, 2);
            value.writeBytes(random.nextInt(8) == 0 ? Arrays.copyOf(section, random.nextInt(section.length)) : section);
        }
        return value.toByteArray();
    }

    @Test
    void anyValueIsAStateOrAForeignValueForEachOperation() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("values of keys: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            byte[] value = value(random);
            Limit limit = LIMITS.get(random.nextInt(LIMITS.size()));
            Charge charge = TestBackend.charge("k.a", 1, limit);
            for (Runnable operation : List.<Runnable>of(
                    () -> fixture.backend().acquire(List.of(charge)),
                    () -> fixture.backend().peek(List.of(charge)),
                    () -> new TestedBackend(fixture.backend()).refund(charge),
                    () -> new TestedBackend(fixture.backend()).block(charge.policy(), "k.a", Duration.ofMinutes(1)),
                    () -> new TestedBackend(fixture.backend()).unblock(charge.policy(), "k.a"),
                    () -> fixture.backend().reset(List.of(charge.policy()), "k.a"))) {
                redis.call("SET", fixture.key("k.a"), value);
                try {
                    operation.run();
                } catch (BackendException e) {
                    assertThat(e.reason())
                            .as("-Dweir.test.seed=%d, round %d: %s", seed, round, new String(value, ISO_8859_1))
                            .isEqualTo(Reason.FOREIGN_STATE);
                }
                assertThat(redis.number("PTTL", fixture.key("k.a")))
                        .as("-Dweir.test.seed=%d, round %d", seed, round)
                        .isLessThanOrEqualTo(LONGEST.toMillis());
            }
        }
    }

    @Test
    void anyListIsReadAndWritten() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("lists of instances: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        String[] words = {"a1", "b2", "Z", " ", "\n", "1", "999999999999999", "9".repeat(16), "\0", "\u00ff"};
        for (int round = 0; round < 300; round++) {
            String text = IntStream.range(0, random.nextInt(60))
                    .mapToObj(i -> words[random.nextInt(words.length)])
                    .collect(Collectors.joining());
            redis.call("SET", fleetKey("instances"), text.getBytes(ISO_8859_1));
            redis.call("SET", fleetKey("history:7"), text.getBytes(ISO_8859_1));
            report();
            assertThat(redis.text("GET", fleetKey("instances")))
                    .as("-Dweir.test.seed=%d, round %d", seed, round)
                    .matches("(?:[a-z0-9]{1,32} [0-9]{1,15}\n)+");
            assertThat(redis.text("GET", fleetKey("history:7")))
                    .as("-Dweir.test.seed=%d, round %d", seed, round)
                    .matches("(?s)(?:[0-9]{1,15} [0-9]{1,15} [^\n]+\n)+");
        }
    }
}
