// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.operations.ChangeStoreContract;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalChangeStoreTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    private final LocalChangeStore store = new LocalChangeStore(Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void isEmptyAtFirst() {
        ChangeStoreContract.isEmpty(store);
    }

    @Test
    void keepsTheLastState() {
        ChangeStoreContract.keepsTheLastState(store);
    }

    @Test
    void rejectsAnotherTag() {
        ChangeStoreContract.rejectsAnotherTag(store);
    }

    @Test
    void boundsTheLog() {
        ChangeStoreContract.boundsTheLog(store);
    }

    @Test
    void oneOfSeveralWritersSucceeds() throws InterruptedException {
        ChangeStoreContract.oneOfSeveralWritersSucceeds(List.of(store, store, store));
    }

    @Test
    void returnsTheTimeOfItsClock() {
        assertThat(store.read("").toCompletableFuture().join().time()).isEqualTo(NOW);
    }
}
