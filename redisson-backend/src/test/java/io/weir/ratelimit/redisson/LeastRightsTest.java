// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The documented rights are enough for all that a store does on Redis's clock, and each of them is needed. */
class LeastRightsTest {

    static Stream<String> rights() {
        return Arrays.stream(LeastRights.line().split(" ")).filter(word -> word.startsWith("+"));
    }

    @Test
    void theDocumentedRightsAreEnough() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[]) LeastRights.line().split(" "));
            useAll(List.of(admin), LeastRights.address(process));
            assertThat(refusedCommands(admin)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("rights")
    void withoutOneOfThemRedisRefuses(String right) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call(Arrays.stream(LeastRights.line().split(" "))
                    .filter(word -> !word.equals(right))
                    .toArray());
            try {
                useAll(List.of(admin), LeastRights.address(process));
            } catch (BackendException | AssertionError e) {
                // which of its steps fails depends on the right
            }
            assertThat(refusedCommands(admin))
                    .anyMatch(command -> right.equals("+" + command) || right.startsWith("+" + command + "|"));
        }
    }

    @Test
    void aKeyOfAnotherKindIsOutOfReach() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[])
                    LeastRights.line().replace("~weir:1:*", "~weir:2:*").split(" "));
            RedissonBackend backend =
                    new TestConfig(Map.of(RedisSettings.ADDRESS, LeastRights.address(process))).started();
            try {
                Await.until(
                        "Redis has refused",
                        Duration.ofSeconds(10),
                        () -> FaultCalls.failure(backend).reason() == Reason.REFUSED);
                assertThat(FaultCalls.failure(backend)).hasMessage("Redis answered NOPERM");
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aClusterAsksForOneRightMoreAndNoOther() {
        ClusterFixture cluster = ClusterFixture.shared();
        String address = cluster.masters().stream().map(LeastRights::address).collect(Collectors.joining(","));
        List<RedisConnection> admins =
                cluster.masters().stream().map(RedisProcess::connect).toList();
        try {
            admins.forEach(admin -> admin.call((Object[]) LeastRights.line().split(" ")));
            assertThatExceptionOfType(BackendException.class).isThrownBy(() -> useAll(admins, address));
            assertThat(admins)
                    .anySatisfy(admin ->
                            assertThat(refusedCommands(admin)).anyMatch(command -> command.startsWith("cluster")));
            admins.forEach(admin -> admin.call("ACL", "SETUSER", LeastRights.USER, LeastRights.ofCluster()));
            admins.forEach(admin -> admin.call("ACL", "LOG", "RESET"));
            useAll(admins, address);
            // What the client finds out so, whether it may use patterns, is about subscriptions, and there are none.
            assertThat(admins)
                    .allSatisfy(admin -> assertThat(refusedCommands(admin)).isSubsetOf("pubsub", "pubsub|numpat"));
        } finally {
            admins.forEach(admin -> admin.call("ACL", "DELUSER", LeastRights.USER));
            admins.forEach(RedisConnection::close);
        }
    }

    /** Everything that sends another command. */
    private static void useAll(List<RedisConnection> admins, String address) {
        RedissonBackend backend =
                new TestConfig(Map.of(RedisSettings.ADDRESS, address, "ratelimit.redis.deadline", "20s")).started();
        try {
            Charge charge = TestStore.charge("k.a", 2, FaultCalls.LIMIT);
            Decision.Allowed allowed = (Decision.Allowed) backend.acquire(List.of(charge));
            backend.acquire(List.of(charge));
            backend.peek(charge);
            backend.giveBack(allowed.receipt());
            admins.forEach(admin -> admin.call("SCRIPT", "FLUSH"));
            backend.acquire(List.of(charge));
            backend.reset(charge.policy(), charge.identity());
        } finally {
            backend.close();
        }
    }

    /** Commands, not keys: Redisson looks for a cluster by two keys of its own, which it may not and need not read. */
    private static List<String> refusedCommands(RedisConnection admin) {
        return ((List<?>) admin.call("ACL", "LOG"))
                .stream()
                        .map(entry -> ((List<?>) entry)
                                .stream()
                                        .map(word -> word instanceof byte[] text ? new String(text) : word + "")
                                        .toList())
                        .filter(entry -> entry.get(entry.indexOf("reason") + 1).equals("command"))
                        .map(entry -> entry.get(entry.indexOf("object") + 1))
                        .toList();
    }
}
