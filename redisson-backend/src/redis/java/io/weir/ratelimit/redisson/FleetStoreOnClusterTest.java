// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.ChangeStoreContract;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.operations.FleetStore.StoredReport;
import io.weir.ratelimit.fixtures.ClusterFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The reports and the runtime changes of two instances on a cluster: all keys of a namespace are in one slot. */
@Tag("redis")
class FleetStoreOnClusterTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    @Test
    void sharesRuntimeChanges() {
        try (ClusterUnderFault one = ClusterUnderFault.on(ClusterFixture.shared(), DEADLINE);
                ClusterUnderFault other = one.another(DEADLINE)) {
            ChangeStore first = one.backend().capability(ChangeStore.class).orElseThrow();
            ChangeStore second = other.backend().capability(ChangeStore.class).orElseThrow();
            ChangeStoreContract.keepsTheLastState(first);
            assertThat(second.read("").toCompletableFuture().join().tag()).isEqualTo("2-6");
            assertThat(second.log(9).toCompletableFuture().join()).hasSize(2);
        }
    }

    private static int present(ClusterUnderFault cluster, String instance) {
        return cluster.backend()
                .capability(FleetStore.Presence.class)
                .orElseThrow()
                .present(instance)
                .toCompletableFuture()
                .join();
    }

    @Test
    void sharesReportsCountsAndPresence() {
        try (ClusterUnderFault one = ClusterUnderFault.on(ClusterFixture.shared(), DEADLINE);
                ClusterUnderFault other = one.another(DEADLINE)) {
            FleetStore first = one.backend().capability(FleetStore.class).orElseThrow();
            FleetStore second = other.backend().capability(FleetStore.class).orElseThrow();
            byte[] counts = "2 1 *\n".getBytes(UTF_8);
            first.report("a1", new byte[] {1}, Map.of(7L, counts, 8L, counts))
                    .toCompletableFuture()
                    .join();
            second.report("b2", new byte[] {2}, Map.of(7L, counts))
                    .toCompletableFuture()
                    .join();
            assertThat(first.reports().toCompletableFuture().join().stream().map(StoredReport::instance))
                    .containsExactlyInAnyOrder("a1", "b2");
            assertThat(present(one, "a1")).isEqualTo(1);
            assertThat(present(other, "b2")).isEqualTo(2);
            assertThat(second.history(List.of(7L, 8L)).toCompletableFuture().join())
                    .extracting(step -> new String(step, UTF_8))
                    .containsExactly("4 2 *\n", "2 1 *\n");
        }
    }
}
