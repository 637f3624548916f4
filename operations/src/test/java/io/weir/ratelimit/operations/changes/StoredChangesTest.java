// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.changes.ChangeSamples.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.spi.BackendException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
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

    /** Stores a state that a neighbor has written, in place of any other. */
    private void forge(long number, Instant written) {
        RuntimeChange change = ChangeSamples.at(policy(number, "api", "limit", "1000000/1s"), ChangeSamples.START);
        store.restore(CODEC.encode(new ChangeState(number, written, List.of(change))));
    }

    @Test
    @Tag("field")
    void aForgedNumberDoesNotEndTheAbilityToChange() throws Exception {
        one.read(WAIT);
        two.read(WAIT);
        forge(999_999_999_999_999L, store.clock.instant());
        one.read(WAIT);
        two.read(WAIT);
        assertThat(one.known().state().active())
                .singleElement()
                .satisfies(change -> assertThat(change.number()).isEqualTo(1));
        ChangeState forged = one.known().state();
        RuntimeChange undo = ChangeSamples.undo(2, forged.active().get(0));
        one.replace(one.seen(forged.tag()), forged.after(undo), undo);
        for (StoredChanges each : List.of(one, two, new StoredChanges(store, true, CODEC, () -> 0, store.clock))) {
            each.read(WAIT);
            assertThat(each.known().problem()).isEmpty();
            assertThat(each.known().state().active()).isEmpty();
            assertThat(each.known().state().number()).isEqualTo(2);
        }
    }

    @Test
    void numbersThatAreTooLargeAreTheSameOnAllInstancesAfterAChange() throws Exception {
        forge(1_000_000_000_000L, ChangeSamples.START);
        one.read(WAIT);
        two.read(WAIT);
        ChangeState known = one.known().state();
        assertThat(known.number()).isEqualTo(1_000_000_000_000L);
        make(one, ChangeSamples.at(policy(known.number() + 1, "api", "limit", "5/1s"), ChangeSamples.START));
        two.read(WAIT);
        assertThat(two.known().state()).isEqualTo(one.known().state());
        assertThat(two.known().state().active())
                .extracting(RuntimeChange::number)
                .containsExactly(1L, 2L);
        make(two, policy(3, "api", "limit", "6/1s"));
        one.read(WAIT);
        assertThat(one.known().state()).isEqualTo(two.known().state());
    }

    @Test
    @Tag("field")
    void aStateOfTheFutureIsIgnoredAndTheNextChangeReplacesIt() throws Exception {
        one.read(WAIT);
        make(one, policy(1, "api", "limit", "5/1s"));
        ChangeState mine = one.known().state();
        Instant latest = store.clock.instant().plus(KnownChanges.MAX_AHEAD);
        forge(7, latest.plusMillis(1));
        one.read(WAIT);
        assertThat(one.known().state()).isEqualTo(mine);
        assertThat(one.known().problem()).contains("the state was written in the future");
        assertThat(one.seen(mine.tag()).replaceable()).isTrue();
        make(one, policy(2, "api", "limit", "6/1s"));
        two.read(WAIT);
        assertThat(two.known().state()).isEqualTo(one.known().state());
        assertThat(two.known().state().number()).isEqualTo(2);
    }

    @Test
    @Tag("field")
    void aChangeFollowsAStateThatIsAlmostTooLate() throws Exception {
        one.read(WAIT);
        forge(8, store.clock.instant().plus(KnownChanges.MAX_AHEAD));
        two.read(WAIT);
        assertThat(two.known().state().number()).isEqualTo(8);
        make(two, policy(9, "api", "limit", "7/1s"));
        one.read(WAIT);
        assertThat(one.known().state().number()).isEqualTo(9);
    }

    @Test
    void theClockOfTheInstanceDecidesWhatTheFutureIsAfterAStepOfTheStore() {
        Clock ofInstance = Clock.offset(store.clock, Duration.ofDays(30));
        StoredChanges other = new StoredChanges(store, true, CODEC, () -> 0, ofInstance);
        forge(7, ofInstance.instant());
        other.read(WAIT);
        assertThat(other.known().state().number()).isEqualTo(7);
    }
}
