// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.runtime.WeirBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runtime changes on instances without calls, which only their timers read. */
@Tag("redis")
class DeployedChangesTest {
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private static Operations operations(Weir weir) {
        return weir.plugin(OperationsPlugin.class).operations();
    }

    private static RuntimeChanges changes(Weir weir) {
        return operations(weir).changes().orElseThrow();
    }

    @Test
    void eachInstanceAppliesAChangeBeforeItsSecondNextPoll() throws Exception {
        WeirBuilder builder = Weir.builder()
                .property("ratelimit.redis.address", RedisFixture.shared().address())
                .property("ratelimit.namespace", "changes-" + UUID.randomUUID())
                .property("ratelimit.redis.deadline", "10s")
                .property("ratelimit.policies.api.limit", "1/1h")
                .property("ratelimit.changes.enabled", "true")
                .property("ratelimit.changes.role", "changer");
        try (Weir one = builder.build();
                Weir second = builder.build();
                Weir third = builder.build()) {
            assertThat(one.plugin(OperationsPlugin.class).tasks())
                    .extracting(Plugin.Task::interval)
                    .singleElement()
                    .satisfies(interval -> assertThat(interval.multipliedBy(2)).isLessThan(Duration.ofSeconds(1)));
            change(one, "5/1h");
            // At the same time, because the polls of an instance go on while another one is awaited.
            Stream.of(one, second, third)
                    .map(weir ->
                            CompletableFuture.runAsync(() -> verifyApplied(weir), check -> new Thread(check).start()))
                    .toList()
                    .forEach(CompletableFuture::join);
        }
    }

    private static void change(Weir weir, String limit) throws Exception {
        // The state is known after the first answer of Redis.
        awaitPolls(weir, 1);
        RuntimeChanges changes = changes(weir);
        changes.make(
                new ChangeRequest(
                        new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, "api", Optional.empty()),
                        Map.of("limit", limit),
                        Optional.empty(),
                        "a test",
                        "alice"),
                changes.view().tag());
    }

    private static void verifyApplied(Weir weir) {
        // The poll that runs during the change can miss it. The next one begins after it, and has applied it when a
        // third one ends.
        awaitPolls(weir, 3);
        assertThat(operations(weir).policies().get(0).limits()).containsExactly("5/1h");
    }

    /** Waits until the timer of an instance has read the changes. */
    private static void awaitPolls(Weir weir, int polls) {
        for (int i = 0; i < polls; i++) {
            Optional<Instant> before = changes(weir).view().read();
            Await.until("a poll", LONGEST, () -> !changes(weir).view().read().equals(before));
        }
    }
}
