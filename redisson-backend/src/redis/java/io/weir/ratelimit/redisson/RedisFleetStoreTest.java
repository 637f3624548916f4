// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.operations.FleetStore.StoredReport;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The reports of instances on a real Redis. */
@Tag("redis")
class RedisFleetStoreTest {
    private final TestBackend backend = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
    private FleetStore store;

    @BeforeEach
    void connect() {
        store = backend.ready().backend().capability(FleetStore.class).orElseThrow();
    }

    @AfterEach
    void disconnect() {
        redis.drop("weir:1:fleet:{" + backend.namespace() + "}:*");
        redis.close();
        backend.close();
    }

    private static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private String key(String part) {
        return "weir:1:fleet:{" + backend.namespace() + "}:" + part;
    }

    private void report(String instance, String content) {
        join(store.report(instance, content.getBytes(UTF_8), Map.of()));
    }

    private Map<String, String> reports() {
        Map<String, String> contents = new HashMap<>();
        for (StoredReport report : join(store.reports())) {
            assertThat(report.age()).isBetween(Duration.ZERO, FleetStore.REPORT_LIFETIME);
            contents.put(
                    report.instance(),
                    report.content().map(bytes -> new String(bytes, UTF_8)).orElse("foreign"));
        }
        return contents;
    }

    private List<String> history(Long... steps) {
        return join(store.history(List.of(steps))).stream()
                .map(bytes -> new String(bytes, UTF_8))
                .toList();
    }

    @Test
    void replacesTheReportOfAnInstance() {
        assertThat(reports()).isEmpty();
        report("a1", "first");
        report("b2", "other");
        report("a1", "second\n\0 \u00ff");
        assertThat(reports()).isEqualTo(Map.of("a1", "second\n\0 \u00ff", "b2", "other"));
    }

    @Test
    void instancesWithTheirOwnClientsShareTheirReports() {
        try (TestBackend other = backend.anotherClient()) {
            RedissonBackend third = backend.another();
            List<FleetStore> stores = List.of(
                    store,
                    other.backend().capability(FleetStore.class).orElseThrow(),
                    third.capability(FleetStore.class).orElseThrow());
            for (int i = 0; i < stores.size(); i++) {
                join(stores.get(i)
                        .report(
                                "i" + i,
                                new byte[] {(byte) i},
                                Map.of(7L, ("1 0 *\n1 0 =p" + i + "\n").getBytes(UTF_8))));
            }
            for (FleetStore each : stores) {
                assertThat(join(each.reports()).stream().map(StoredReport::instance))
                        .containsExactlyInAnyOrder("i0", "i1", "i2");
                assertThat(join(each.history(List.of(7L))).get(0))
                        .asString(UTF_8)
                        .startsWith("3 0 *\n")
                        .contains("1 0 =p0\n", "1 0 =p2\n");
            }
            third.close();
        }
    }

    @Test
    void returnsTheTimeOfRedis() {
        Instant before = Instant.now();
        assertThat(join(store.report("a1", new byte[0], Map.of())))
                .isBetween(before.minusSeconds(60), before.plusSeconds(60));
    }

    @Test
    void everyKeyHasATimeToLive() {
        join(store.report("a1", new byte[] {1}, Map.of(7L, "1 0 *\n".getBytes(UTF_8))));
        for (String part : List.of("instances", "report:a1")) {
            assertThat(redis.number("PTTL", key(part))).as(part).isBetween(1L, 75_000L);
        }
        assertThat(redis.number("PTTL", key("history:7"))).isBetween(3_600_000L, 3_720_000L);
    }

    @Test
    void addsCountsOfAllInstances() {
        join(store.report("a1", new byte[0], Map.of(7L, "3 1 *\n3 1 =api\n".getBytes(UTF_8))));
        join(store.report(
                "b2", new byte[0], Map.of(7L, "4 0 *\n4 0 =b c\n".getBytes(UTF_8), 8L, "1 1 *\n".getBytes(UTF_8))));
        assertThat(history(6L, 7L, 8L)).containsExactly("", "7 1 *\n3 1 =api\n4 0 =b c\n", "1 1 *\n");
    }

    @Test
    void keepsManyReports() {
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < 50; i++) {
            String content = Integer.toString(i).repeat(1_000);
            expected.put("i" + i, content);
            report("i" + i, content);
        }
        assertThat(reports()).isEqualTo(expected);
    }

    @Test
    void storesTheLargestReport() {
        String large = "x".repeat(FleetStore.MAX_REPORT_BYTES);
        report("a1", large);
        assertThat(reports()).isEqualTo(Map.of("a1", large));
        assertThatThrownBy(() -> report("a1", large + "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bytesOfAStepAreBounded() {
        for (int i = 0; i < 5; i++) {
            int first = 200 * i;
            String counts = IntStream.range(first, first + 200)
                    .mapToObj(n -> "1 0 =" + "p".repeat(60) + n + "\n")
                    .collect(Collectors.joining());
            join(store.report("a1", new byte[0], Map.of(7L, counts.getBytes(UTF_8))));
        }
        join(store.report("a1", new byte[0], Map.of(7L, "2 2 =pppp\n1 0 =other\n".getBytes(UTF_8))));
        assertThat(history(7L).get(0).length()).isBetween(1, FleetStore.MAX_STEP_BYTES);
    }

    @Test
    void doesNotChangeForeignValues() {
        report("b2", "good");
        redis.call("DEL", key("report:a1"));
        redis.call("LPUSH", key("report:a1"), "foreign");
        redis.call("LPUSH", key("history:7"), "foreign");
        join(store.report("a1", new byte[0], Map.of(7L, "1 0 *\n".getBytes(UTF_8), 8L, "1 0 *\n".getBytes(UTF_8))));
        assertThat(reports()).isEqualTo(Map.of("a1", "foreign", "b2", "good"));
        assertThat(history(7L, 8L)).containsExactly("", "1 0 *\n");
        assertThat(redis.text("TYPE", key("report:a1"))).isEqualTo("list");
        assertThat(redis.text("TYPE", key("history:7"))).isEqualTo("list");
    }

    @Test
    void reportsAForeignList() {
        redis.call("LPUSH", key("instances"), "foreign");
        report("a1", "content");
        assertThat(reports()).containsExactly(Map.entry("list", "foreign"));
    }

    @Test
    void ignoresInvalidLinesOfTheList() {
        report("a1", "content");
        redis.call(
                "SET",
                key("instances"),
                "A1 1\n\na1\na1 99999999999999999999999\n" + "x".repeat(40) + " 1\na1 1\n../x 5\n"
                        + redis.text("GET", key("instances")));
        assertThat(reports()).isEqualTo(Map.of("a1", "content"));
        report("b2", "other");
        assertThat(reports()).isEqualTo(Map.of("a1", "content", "b2", "other"));
        assertThat(redis.text("GET", key("instances"))).doesNotContain("99999", "xxxx", "..");
    }

    @Test
    void listIsBounded() {
        report("a1", "content");
        String now = redis.text("GET", key("instances")).split("[ \n]")[1];
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 1_500; i++) {
            lines.add("n" + i + " " + now + "\n");
        }
        redis.call("SET", key("instances"), String.join("", lines));
        report("b2", "other");
        assertThat(redis.text("GET", key("instances")).lines()).hasSize(FleetStore.MAX_INSTANCES);
        assertThat(reports()).isEqualTo(Map.of("b2", "other"));
    }

    @Test
    void ignoresATooLargeReport() {
        report("a1", "content");
        redis.call("SET", key("report:a1"), "x".repeat(FleetStore.MAX_REPORT_BYTES + 1));
        assertThat(join(store.reports()))
                .singleElement()
                .satisfies(report -> assertThat(report.content()).isEqualTo(Optional.empty()));
    }

    @Test
    void survivesALossOfScripts() {
        report("a1", "content");
        redis.call("SCRIPT", "FLUSH");
        report("a1", "again");
        redis.call("SCRIPT", "FLUSH");
        assertThat(reports()).isEqualTo(Map.of("a1", "again"));
    }
}
