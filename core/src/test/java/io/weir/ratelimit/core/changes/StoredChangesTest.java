// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import static io.weir.ratelimit.core.changes.ChangeSamples.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.ChangeStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class StoredChangesTest {
    private static final Duration WAIT = Duration.ofSeconds(1);
    private static final ChangeCodec CODEC = new ChangeCodec("shop", Optional.empty());

    private final Store store = new Store();
    private final StoredChanges one = new StoredChanges(store, true, CODEC, () -> 0, store.clock);
    private final StoredChanges two = new StoredChanges(store, true, CODEC, () -> 0, store.clock);

    private static final class Store implements ChangeStore {
        private final Clock clock = Clock.fixed(Instant.parse("2026-03-02T00:00:00Z"), ZoneOffset.UTC);
        private ChangeStore local = new LocalChangeStore(clock);
        private boolean readFails;

        @Override
        public CompletionStage<Stored> read(String knownTag) {
            return readFails
                    ? CompletableFuture.failedFuture(
                            new BackendException(BackendException.Reason.CONNECTION, "no answer", null))
                    : local.read(knownTag);
        }

        @Override
        public CompletionStage<Boolean> replace(String expectedTag, byte[] state, byte[] entry) {
            return local.replace(expectedTag, state, entry);
        }

        @Override
        public CompletionStage<List<byte[]>> log(int count) {
            return local.log(count);
        }

        byte[] state() {
            return local.read("").toCompletableFuture().join().state().orElseThrow();
        }

        /** Loses all data, and has an earlier state then. */
        void restore(byte[] state) {
            local = new LocalChangeStore(clock);
            assertThat(local.replace("", state, new byte[] {1})
                            .toCompletableFuture()
                            .join())
                    .isTrue();
        }
    }

    private static void make(StoredChanges changes, RuntimeChange change) throws Exception {
        KnownChanges known = changes.known();
        changes.replace(known, known.state().with(change), change);
    }

    @Test
    void aConflictIsNoOutage() throws Exception {
        one.read(WAIT);
        two.read(WAIT);
        make(one, policy(1, "api", "limit", "5/1s"));
        store.readFails = true;
        assertThatThrownBy(() -> make(two, policy(1, "api", "limit", "6/1s")))
                .isInstanceOf(ChangeConflictException.class);
    }

    @Test
    void aChangeAfterALossOfTheStoreIsAcceptedAlthoughItsNumberIsSmaller() throws Exception {
        one.read(WAIT);
        for (int i = 1; i <= 17; i++) {
            make(one, policy(i, "api", "limit", i + "/1s"));
        }
        store.local = new LocalChangeStore(store.clock);
        one.read(WAIT);
        assertThat(one.known().state().number()).isEqualTo(17);
        assertThat(one.known().problem()).isPresent();
        two.read(WAIT);
        RuntimeChange first = policy(1, "api", "mode", "off");
        make(two, ChangeSamples.at(first, ChangeSamples.START.plusSeconds(60)));
        one.read(WAIT);
        assertThat(one.known().state().number()).isEqualTo(1);
        assertThat(one.known().problem()).isEmpty();
    }

    @Test
    void anOlderStateIsIgnored() throws Exception {
        one.read(WAIT);
        make(one, policy(1, "api", "limit", "5/1s"));
        byte[] old = store.state();
        make(one, policy(2, "api", "limit", "6/1s"));
        store.restore(old);
        one.read(WAIT);
        assertThat(one.known().state().number()).isEqualTo(2);
        assertThat(one.known().problem()).isPresent();
    }

    @Test
    void ofTwoStatesOfOneInstantTheOneWithTheSmallerNumberIsOlder() throws Exception {
        one.read(WAIT);
        RuntimeChange first = policy(1, "api", "limit", "5/1s");
        make(one, first);
        byte[] old = store.state();
        make(one, ChangeSamples.at(policy(2, "api", "limit", "6/1s"), first.at()));
        store.restore(old);
        one.read(WAIT);
        assertThat(one.known().state().number()).isEqualTo(2);
    }
}
