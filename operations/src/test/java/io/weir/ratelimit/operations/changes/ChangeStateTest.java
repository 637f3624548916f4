// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.changes.ChangeSamples.START;
import static io.weir.ratelimit.operations.changes.ChangeSamples.at;
import static io.weir.ratelimit.operations.changes.ChangeSamples.ofKey;
import static io.weir.ratelimit.operations.changes.ChangeSamples.policy;
import static io.weir.ratelimit.operations.changes.ChangeSamples.undo;
import static io.weir.ratelimit.operations.changes.ChangeSamples.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ChangeStateTest {
    private static ChangeState of(RuntimeChange... changes) {
        ChangeState state = ChangeState.EMPTY;
        for (RuntimeChange change : changes) {
            state = state.with(change);
        }
        return state;
    }

    private static Map<String, String> values(ChangeState state, String policy, Instant now) {
        Map<String, String> values = new TreeMap<>();
        state.policies(now)
                .getOrDefault(policy, Map.of())
                .forEach((attribute, change) ->
                        values.put(attribute, change.values().get(attribute)));
        return values;
    }

    private static List<Long> numbers(ChangeState state) {
        return state.active().stream().map(RuntimeChange::number).toList();
    }

    @Test
    void tagHasTheNumberAndTheTime() {
        assertThat(ChangeState.EMPTY.tag()).isEqualTo(ChangeStore.NO_TAG);
        assertThat(of(policy(1, "api", "limit", "5/1s")).tag())
                .isEqualTo("1-" + START.plusSeconds(1).toEpochMilli());
    }

    @Test
    void theLatestChangeOfAnAttributeIsInForce() {
        ChangeState state = of(
                policy(1, "api", "limit", "5/1s", "mode", "shadow"),
                policy(2, "api", "limit", "6/1s"),
                policy(3, "login", "limit", "7/1s"));
        assertThat(values(state, "api", START)).isEqualTo(Map.of("limit", "6/1s", "mode", "shadow"));
        assertThat(values(state, "login", START)).isEqualTo(Map.of("limit", "7/1s"));
        assertThat(numbers(state)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aChangeEndsAtItsEnd() {
        ChangeState state =
                of(policy(1, "api", "limit", "5/1s"), until(policy(2, "api", "limit", "6/1s"), Duration.ofMinutes(2)));
        Instant end = START.plusSeconds(2).plus(Duration.ofMinutes(2));
        assertThat(values(state, "api", end.minusMillis(1))).isEqualTo(Map.of("limit", "6/1s"));
        assertThat(values(state, "api", end)).isEqualTo(Map.of("limit", "5/1s"));
        assertThat(numbers(state.with(policy(200, "login", "mode", "off")))).containsExactly(1L, 200L);
    }

    @Test
    void anUndoMakesTheEarlierChangeApply() {
        RuntimeChange second = policy(2, "api", "limit", "6/1s");
        ChangeState state = of(policy(1, "api", "limit", "5/1s"), second).after(undo(3, second));
        assertThat(values(state, "api", START)).isEqualTo(Map.of("limit", "5/1s"));
        assertThat(state.number()).isEqualTo(3);
        assertThat(state.find(2)).isEmpty();
        assertThat(state.find(1)).isPresent();
    }

    @Test
    void theLatestOverrideOfAKeyIsInForce() {
        ChangeState state = of(
                ofKey(1, Kind.OVERRIDE, "k.a", "5/1s"),
                ofKey(2, Kind.OVERRIDE, "k.b", "6/1s"),
                ofKey(3, Kind.OVERRIDE, "k.a", "7/1s"),
                ofKey(4, Kind.BLOCK, "k.a", ""));
        assertThat(state.overrides(START).values())
                .extracting(change -> change.values().get("limit"))
                .containsExactly("7/1s", "6/1s");
    }

    @Test
    void anOverrideCountsInThePeriodsInWhichNoLaterOneHidesIt() {
        Instant second = START.plusSeconds(2).plus(Duration.ofHours(2));
        ChangeState state = of(
                ofKey(1, Kind.OVERRIDE, "k.a", "5/1s"),
                until(ofKey(2, Kind.OVERRIDE, "k.a", "6/1s"), Duration.ofHours(2)),
                until(ofKey(3, Kind.OVERRIDE, "k.a", "7/1s"), Duration.ofHours(1)),
                until(ofKey(4, Kind.OVERRIDE, "k.b", "8/1s"), Duration.ofMinutes(1)),
                ofKey(5, Kind.BLOCK, "k.a", ""));
        assertThat(state.overrides("api", START, START.plusSeconds(9)))
                .extracting(RuntimeChange::number)
                .containsExactlyInAnyOrder(3L, 4L);
        assertThat(state.overrides("api", START, second))
                .extracting(RuntimeChange::number)
                .containsExactlyInAnyOrder(2L, 3L, 4L);
        assertThat(state.overrides("api", second.minusMillis(1), Instant.MAX))
                .extracting(RuntimeChange::number)
                .containsExactlyInAnyOrder(1L, 2L);
        assertThat(state.overrides("api", second, Instant.MAX))
                .extracting(RuntimeChange::number)
                .containsExactly(1L);
        assertThat(state.overrides("login", START, Instant.MAX)).isEmpty();
    }

    @Test
    void aStateIsNeverWrittenBeforeAnEarlierOne() {
        ChangeState later = ChangeState.EMPTY.with(at(policy(1, "api", "limit", "5/1s"), START.plusSeconds(90)));
        RuntimeChange change = at(policy(2, "api", "limit", "6/1s"), START);
        assertThat(later.with(change).written()).isEqualTo(START.plusSeconds(90));
        assertThat(later.with(change).find(2)).contains(change);
        assertThat(later.after(at(undo(3, change), START)).written()).isEqualTo(START.plusSeconds(90));
    }

    @Test
    void earlierChangesOfAnAttributeAreBounded() {
        List<RuntimeChange> changes = new ArrayList<>();
        changes.add(policy(1, "api", "limit", "1/1s", "mode", "shadow"));
        for (int i = 2; i <= 40; i++) {
            changes.add(policy(i, "api", "limit", i + "/1s"));
        }
        changes.add(ofKey(41, Kind.BLOCK, "k.a", ""));
        changes.add(ofKey(42, Kind.BLOCK, "k.a", ""));
        ChangeState state = of(changes.toArray(RuntimeChange[]::new));
        assertThat(values(state, "api", START)).isEqualTo(Map.of("limit", "40/1s", "mode", "shadow"));
        assertThat(numbers(state)).startsWith(1L, 31L).endsWith(40L, 42L).hasSize(ChangeState.MAX_EARLIER + 2);
    }
}
