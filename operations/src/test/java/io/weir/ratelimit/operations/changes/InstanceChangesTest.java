// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InstanceChangesTest {
    private static final Instant START = Instant.parse("2026-03-01T03:00:00Z");
    private static final String KEY = "alice@example.com";

    private final AtomicLong nanos = new AtomicLong(-11);
    private final Clock instanceClock = new Ticking(() -> Duration.ZERO);
    private final Store store = new Store();
    private final Instance one = new Instance(Optional.empty());
    private final Instance two = new Instance(Optional.empty());
    private LogCapture log;

    private final class Ticking extends Clock {
        private final Supplier<Duration> step;

        private Ticking(Supplier<Duration> step) {
            this.step = step;
        }

        @Override
        public ZoneOffset getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(java.time.ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return START.plusNanos(nanos.get() + 11).plus(step.get());
        }
    }

    /** A store that several instances share, and that can fail. */
    private final class Store implements ChangeStore {
        private Duration step = Duration.ZERO;
        private final Clock clock = new Ticking(() -> step);
        private ChangeStore local = new LocalChangeStore(clock);
        private boolean failing;
        private boolean replaceFails;
        private boolean answerIsLost;
        private BackendException.Reason reason = BackendException.Reason.CONNECTION;

        private <T> CompletionStage<T> answer(boolean fails, Supplier<CompletionStage<T>> call) {
            return fails ? CompletableFuture.failedFuture(new BackendException(reason, "no answer", null)) : call.get();
        }

        @Override
        public CompletionStage<Stored> read(String knownTag) {
            return answer(failing, () -> local.read(knownTag));
        }

        @Override
        public CompletionStage<Boolean> replace(String expectedTag, byte[] state, byte[] entry) {
            if (answerIsLost) {
                local.replace(expectedTag, state, entry);
            }
            return answer(failing || replaceFails || answerIsLost, () -> local.replace(expectedTag, state, entry));
        }

        @Override
        public CompletionStage<List<byte[]>> log(int count) {
            return answer(failing, () -> local.log(count));
        }
    }

    private final class Instance {
        private final LoadedTarget target = new LoadedTarget();
        private final InstanceChanges changes;

        private Instance(Optional<String> secret) {
            target.configuration.put("ratelimit.policies.api.limit", "100/1m");
            target.configuration.put("ratelimit.policies.other.limit", "20/1m");
            changes = new InstanceChanges(
                    new StoredChanges(store, true, new ChangeCodec("shop", secret), nanos::get, instanceClock),
                    target,
                    new ChangeAudit(new KeyMasker(Optional.empty())));
        }

        private RuntimeChange make(ChangeRequest request) throws Exception {
            return changes.make(request, changes.view().tag());
        }

        private RuntimeChange undo(long number) throws Exception {
            return changes.undo(number, "back", "bob", changes.view().tag());
        }

        private String api() {
            return target.inForce("api");
        }
    }

    @BeforeEach
    void start() {
        log = new LogCapture();
        one.changes.start(Duration.ofMillis(100));
        two.changes.start(Duration.ofMillis(100));
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static ChangeRequest policy(String... values) {
        return request(new Subject(Kind.POLICY, "api", Optional.empty()), Optional.empty(), values);
    }

    private static ChangeRequest policyFor(Duration length, String... values) {
        return request(new Subject(Kind.POLICY, "api", Optional.empty()), Optional.of(length), values);
    }

    private static ChangeRequest ofKey(Kind kind, Optional<Duration> length, String... values) {
        return request(new Subject(kind, "api", Optional.of(KEY)), length, values);
    }

    private static ChangeRequest request(Subject subject, Optional<Duration> length, String... values) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < values.length; i += 2) {
            map.put(values[i], values[i + 1]);
        }
        return new ChangeRequest(subject, map, length, "too many calls", "alice");
    }

    @Test
    void aChangeAppliesAtOnceAndAtTheNextRunOfOthers() throws Exception {
        RuntimeChange change = one.make(policy("limit", "50/1m", "mode", "shadow"));
        assertThat(change)
                .isEqualTo(new RuntimeChange(
                        1,
                        new Subject(Kind.POLICY, "api", Optional.empty()),
                        Map.of("limit", "50/1m", "mode", "shadow"),
                        Map.of("limit", "100/1m", "mode", "enforce"),
                        "alice",
                        "too many calls",
                        START,
                        Optional.empty(),
                        OptionalLong.empty()));
        assertThat(one.api()).isEqualTo("50 SHADOW by runtime change 1 by alice");
        assertThat(two.api()).isEqualTo("100 ENFORCE by map");
        two.changes.run();
        assertThat(two.api()).isEqualTo(one.api());
        assertThat(two.target.inForce("other")).isEqualTo("20 ENFORCE by map");
        assertThat(two.changes.view().active()).containsExactly(change);
        assertThat(two.changes.view().tag()).isEqualTo("1-" + START.toEpochMilli());
        assertThat(two.changes.view().shared()).isTrue();
        two.changes.run();
        assertThat(two.target.calls).as("nothing new").containsExactly("apply");
    }

    @Test
    void aLaterChangeKeepsTheAttributesThatItDoesNotName() throws Exception {
        one.make(policy("limit", "50/1m", "mode", "shadow"));
        one.make(policy("mode", "off", "on-failure", "closed"));
        assertThat(one.api()).isEqualTo("50 OFF by runtime change 1 by alice");
        assertThat(one.target.policy("api").orElseThrow().onFailure()).hasToString("CLOSED");
    }

    @Test
    void anInstanceThatStartsLaterHasTheChangesAtItsStart() throws Exception {
        one.make(policy("limit", "50/1m"));
        Instance later = new Instance(Optional.empty());
        later.changes.start(Duration.ofMillis(100));
        assertThat(later.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
    }

    @Test
    void aStartWithoutAnAnswerUsesTheConfigurationUntilTheStoreAnswers() throws Exception {
        one.make(policy("limit", "50/1m"));
        store.failing = true;
        Instance later = new Instance(Optional.empty());
        later.changes.start(Duration.ofMillis(100));
        assertThat(later.api()).isEqualTo("100 ENFORCE by map");
        assertThat(later.changes.view().read()).isEmpty();
        assertThat(log.lines())
                .endsWith("WARNING WEIR-452 The runtime changes were not read at the start (connection)."
                        + " The configuration applies until the backend answers.");
        store.failing = false;
        later.changes.run();
        assertThat(later.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
    }

    @Test
    void aChangeEndsByTheClockOfTheStoreAlsoWhileTheStoreDoesNotAnswer() throws Exception {
        one.make(policyFor(Duration.ofMinutes(2), "limit", "50/1m"));
        two.changes.run();
        store.failing = true;
        pass(Duration.ofMinutes(2).minusMillis(1));
        two.changes.run();
        assertThat(two.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
        pass(Duration.ofMillis(1));
        two.changes.run();
        assertThat(two.api()).isEqualTo("100 ENFORCE by map");
        assertThat(two.changes.view().active()).isEmpty();
        assertThat(log.lines())
                .endsWith("INFO WEIR-451 Runtime changes apply: []. Runtime changes ended or were undone: [1].");
    }

    @Test
    void theStoreDecidesTheTimeAndNotTheClockOfTheInstance() throws Exception {
        one.make(policyFor(Duration.ofMinutes(2), "limit", "50/1m"));
        store.local = new Shifted(store.local, Duration.ofMinutes(2));
        two.changes.run();
        assertThat(two.api()).isEqualTo("100 ENFORCE by map");
    }

    private record Shifted(ChangeStore store, Duration by) implements ChangeStore {
        @Override
        public CompletionStage<Stored> read(String knownTag) {
            return store.read(knownTag)
                    .thenApply(read -> new Stored(read.time().plus(by), read.tag(), read.state(), read.foreign()));
        }

        @Override
        public CompletionStage<Boolean> replace(String expectedTag, byte[] state, byte[] entry) {
            return store.replace(expectedTag, state, entry);
        }

        @Override
        public CompletionStage<List<byte[]>> log(int count) {
            return store.log(count);
        }
    }

    @Test
    void theSecondOfTwoOperatorsIsAskedAgain() throws Exception {
        String seen = two.changes.view().tag();
        one.make(policy("limit", "50/1m"));
        assertThatThrownBy(() -> two.changes.make(policy("limit", "70/1m"), seen))
                .isInstanceOf(ChangeConflictException.class);
        assertThat(two.changes.view().active()).as("the change of the other").hasSize(1);
        assertThat(two.api()).as("what the page shows is in force").isEqualTo(one.api());
        RuntimeChange second = two.make(policy("limit", "70/1m"));
        assertThat(second.before()).containsExactly(Map.entry("limit", "50/1m"));
        one.changes.run();
        assertThat(one.api()).isEqualTo("70 ENFORCE by runtime change 2 by alice");
        assertThatThrownBy(() -> one.changes.undo(1, "back", "bob", seen)).isInstanceOf(ChangeConflictException.class);
    }

    @Test
    void anUndoRestoresTheEarlierChangeAndThenTheConfiguration() throws Exception {
        one.make(policy("limit", "50/1m"));
        one.make(policy("limit", "70/1m"));
        RuntimeChange undo = one.undo(2);
        assertThat(undo.undoes()).hasValue(2);
        assertThat(undo.before()).containsExactly(Map.entry("limit", "70/1m"));
        assertThat(one.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
        two.changes.run();
        assertThat(two.api()).isEqualTo(one.api());
        two.undo(1);
        assertThat(two.api()).isEqualTo("100 ENFORCE by map");
        assertThat(two.changes.log(10)).extracting(RuntimeChange::number).containsExactly(4L, 3L, 2L, 1L);
    }

    @Test
    void theUndoOfAnUndoMakesTheChangeAgain() throws Exception {
        RuntimeChange first = one.make(policyFor(Duration.ofHours(2), "limit", "50/1m"));
        RuntimeChange undo = one.undo(first.number());
        RuntimeChange again = one.undo(undo.number());
        assertThat(again.values()).isEqualTo(first.values());
        assertThat(again.until()).isEqualTo(first.until());
        assertThat(again.undoes()).hasValue(undo.number());
        assertThat(one.api()).isEqualTo("50 ENFORCE by runtime change 3 by bob");
        assertThatThrownBy(() -> one.undo(undo.number()))
                .as("the change has been made again")
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining("WEIR-449 number = 2");
        one.undo(again.number());
        pass(Duration.ofHours(2));
        assertThatThrownBy(() -> one.undo(4))
                .as("the change would have ended")
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining("WEIR-449 number = 4");
    }

    @Test
    void anUnknownNumberCannotBeUndone() throws Exception {
        assertThatThrownBy(() -> one.undo(17))
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining("no active change and no undo has this number");
        one.make(policyFor(Duration.ofMinutes(1), "limit", "50/1m"));
        pass(Duration.ofMinutes(1));
        assertThatThrownBy(() -> one.undo(1)).isInstanceOf(InvalidChangeException.class);
    }

    @Test
    void aChangeHasTheProblemsOfADeployment() {
        for (List<String> value : List.of(
                List.of("limit", "lots"),
                List.of("limit", "10/1m, 20/1m"),
                List.of("burst", "5"),
                List.of("concurrency", "-1"),
                List.of("mode", "on"),
                List.of("on-failure", "perhaps"),
                List.of("enforce-percent", "101"))) {
            Map<String, String> deployed = new HashMap<>(one.target.configuration);
            deployed.put("ratelimit.policies.api." + value.get(0), value.get(1));
            List<ConfigurationProblem> expected = LoadedTarget.problemsAtDeployment(deployed);
            assertThat(expected).as(value.toString()).isNotEmpty();
            assertThat(one.changes.problems(policy(value.get(0), value.get(1)))).isEqualTo(expected);
            assertThatThrownBy(() -> one.make(policy(value.get(0), value.get(1))))
                    .isInstanceOfSatisfying(
                            InvalidChangeException.class,
                            thrown -> assertThat(thrown.problems()).isEqualTo(expected));
        }
        assertThat(one.changes.log(10)).isEmpty();
        assertThat(one.api()).isEqualTo("100 ENFORCE by map");
    }

    @Test
    void theProblemsOfTheConfigurationItselfAreNotThoseOfTheChange() throws Exception {
        one.target.configuration.put("ratelimit.policies.other.mode", "wrong");
        assertThat(one.changes.problems(policy("limit", "50/1m"))).isEmpty();
        one.make(policy("limit", "50/1m"));
        assertThat(one.changes.problems(policy("mode", "wrong"))).hasSize(1);
    }

    @Test
    void aChangeOfAnotherFormIsRejected() {
        List<String> problems = new ArrayList<>();
        for (ChangeRequest request : List.of(
                policy(),
                policy("key", "ip"),
                policy("limit", " "),
                policy("limit", "9".repeat(501)),
                policyFor(Duration.ZERO, "limit", "50/1m"),
                policyFor(Duration.ofDays(367), "limit", "50/1m"),
                request(new Subject(Kind.POLICY, "none", Optional.empty()), Optional.empty(), "limit", "50/1m"),
                request(new Subject(Kind.POLICY, "api", Optional.of(KEY)), Optional.empty(), "limit", "50/1m"),
                request(new Subject(Kind.OVERRIDE, "api", Optional.empty()), Optional.empty(), "limit", "50/1m"),
                request(new Subject(Kind.OVERRIDE, "api", Optional.of("a:b")), Optional.empty(), "limit", "50/1m"),
                ofKey(Kind.OVERRIDE, Optional.empty()),
                ofKey(Kind.OVERRIDE, Optional.empty(), "mode", "off"),
                ofKey(Kind.BLOCK, Optional.empty(), "limit", "1/1m"))) {
            List<ConfigurationProblem> found = one.changes.problems(request);
            assertThat(found).as(request.toString()).hasSize(1);
            problems.add(found.get(0).place() + ": " + found.get(0).problem());
        }
        assertThat(problems)
                .containsExactly(
                        "values: the change has no values",
                        "values: this attribute cannot be changed at run time",
                        "limit: the value is blank, too long or has characters that cannot be printed",
                        "limit: the value is blank, too long or has characters that cannot be printed",
                        "length: the time until the end is out of range",
                        "length: the time until the end is out of range",
                        "policy: this instance has no such policy",
                        "key: a change of a policy has no key",
                        "key: the stored key is missing or invalid",
                        "key: the stored key is missing or invalid",
                        "values: the change has no values",
                        "values: this attribute cannot be changed at run time",
                        "values: this attribute cannot be changed at run time");
    }

    @Test
    void aReasonIsRequired() throws Exception {
        for (String reason : List.of("", "  ", "a\nb", "x".repeat(201), "a\u202eb")) {
            ChangeRequest request = new ChangeRequest(
                    new Subject(Kind.POLICY, "api", Optional.empty()),
                    Map.of("limit", "50/1m"),
                    Optional.empty(),
                    reason,
                    "alice");
            assertThat(one.changes.problems(request))
                    .hasSize(1)
                    .first()
                    .hasToString(
                            "WEIR-449 reason: the reason is missing, too long or has characters that cannot be printed;"
                                    + " give a reason of 1 to 200 printable characters");
        }
        one.make(policy("limit", "50/1m"));
        assertThatThrownBy(
                        () -> one.changes.undo(1, "", "bob", one.changes.view().tag()))
                .isInstanceOf(InvalidChangeException.class);
    }

    @Test
    void anOverrideOfAKeyAppliesUntilItsEnd() throws Exception {
        one.make(ofKey(Kind.OVERRIDE, Optional.of(Duration.ofHours(2)), "limit", "500/1m"));
        RuntimeChange second = one.make(ofKey(Kind.OVERRIDE, Optional.of(Duration.ofHours(1)), "limit", "900/1m"));
        assertThat(second.before()).containsExactly(Map.entry("limit", "500/1m"));
        two.changes.run();
        Overrides.Subject subject = new Overrides.Subject("api", KEY);
        assertThat(two.target.overrides).isEqualTo(Map.of(subject, Map.of("limit", "900/1m")));
        pass(Duration.ofHours(1));
        two.changes.run();
        assertThat(two.target.overrides).isEqualTo(Map.of(subject, Map.of("limit", "500/1m")));
        pass(Duration.ofHours(1));
        two.changes.run();
        assertThat(two.target.overrides).isEmpty();
        assertThat(two.target.calls).as("the policies do not change").isEmpty();
    }

    @Test
    void anInvalidOverrideHasTheProblemOfThePolicy() {
        assertThat(one.changes.problems(ofKey(Kind.OVERRIDE, Optional.empty(), "limit", "lots")))
                .isEqualTo(one.changes.problems(policy("limit", "lots")))
                .isNotEmpty();
        assertThat(one.changes.problems(ofKey(Kind.OVERRIDE, Optional.empty(), "burst", "5")))
                .hasSize(1)
                .first()
                .asString()
                .startsWith("WEIR-449 ratelimit.policies.api.burst = 5: a burst of one key has no effect");
        assertThat(one.changes.problems(ofKey(Kind.OVERRIDE, Optional.empty(), "concurrency", "3")))
                .isEmpty();
    }

    @Test
    void aBlockIsRecordedAndThenMade() throws Exception {
        RuntimeChange block = one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        assertThat(one.target.calls).containsExactly("block api " + KEY + " PT2H");
        assertThat(one.changes.view().active()).containsExactly(block);
        one.undo(block.number());
        assertThat(one.target.calls).endsWith("unblock api " + KEY);
        assertThat(one.changes.view().active()).isEmpty();
    }

    @Test
    void aBlockWithoutAnEndHasTheGreatestLength() throws Exception {
        RuntimeChange block = one.make(ofKey(Kind.BLOCK, Optional.empty()));
        assertThat(block.until()).contains(START.plus(Duration.ofDays(366)));
        assertThat(one.target.calls).containsExactly("block api " + KEY + " PT8784H");
    }

    @Test
    void aShorterBlockEndsTheLongerOneThatItReplaces() throws Exception {
        one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        RuntimeChange shorter = one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofMinutes(10))));
        assertThat(one.target.calls)
                .as("an earlier end alone does not shorten a block")
                .containsExactly("block api " + KEY + " PT2H", "unblock api " + KEY, "block api " + KEY + " PT10M");
        assertThat(one.changes.view().active()).containsExactly(shorter);
        one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(1))));
        assertThat(one.target.calls.subList(3, 4))
                .as("a later end extends a block")
                .containsExactly("block api " + KEY + " PT1H");
    }

    @Test
    void aValueWithATabIsInvalidAndOneOfTheConfigurationIsNot() throws Exception {
        assertThat(one.changes.problems(policy("limit", "5/1s,\t100/1m")))
                .hasSize(1)
                .first()
                .asString()
                .startsWith("WEIR-449 limit");
        one.target.configuration.put("ratelimit.policies.api.limit", "5/1s,\t100/1m");
        assertThat(one.make(policy("limit", "50/1m")).before()).containsExactly(Map.entry("limit", "5/1s, 100/1m"));
    }

    @Test
    void aChangeOfAKeyThatHasNoEffectIsAWarning() throws Exception {
        ChangeRequest block = ofKey(Kind.BLOCK, Optional.empty());
        ChangeRequest override = ofKey(Kind.OVERRIDE, Optional.empty(), "limit", "5/1m");
        assertThat(one.changes.warnings(block)).isEmpty();
        one.make(policy("mode", "shadow"));
        assertThat(one.changes.warnings(block))
                .containsExactly(
                        "WEIR-015 The block has no effect unless ratelimit.policies.api.mode has a value such as"
                                + " enforce. Set that as well, or undo the change.");
        assertThat(one.changes.warnings(override))
                .as("an override decides what shadow mode counts")
                .isEmpty();
        one.make(policy("enforce-percent", "100"));
        assertThat(one.changes.warnings(block))
                .as("a block of a key that enforce-percent selects")
                .isEmpty();
        one.make(policy("mode", "off", "enforce-percent", "0"));
        assertThat(one.changes.warnings(block)).hasSize(1);
        assertThat(one.changes.warnings(override))
                .singleElement()
                .asString()
                .startsWith("WEIR-015 The override has no effect");
    }

    @Test
    void aBlockThatFailsIsListedSoThatItCanBeUndoneOrRepeated() throws Exception {
        one.target.available = false;
        assertThatThrownBy(() -> one.make(ofKey(Kind.BLOCK, Optional.empty())))
                .isInstanceOf(RateLimitUnavailableException.class);
        assertThat(one.changes.view().active()).hasSize(1);
        assertThat(log.lines())
                .last()
                .asString()
                .startsWith("WARNING WEIR-453 Runtime change 1 is recorded, but the block of key ")
                .doesNotContain(KEY);
        assertThatThrownBy(() -> one.undo(1)).isInstanceOf(RateLimitUnavailableException.class);
        assertThat(one.changes.view().active())
                .as("the key can still be blocked")
                .hasSize(1);
        one.target.available = true;
        one.undo(1);
        assertThat(one.changes.view().active()).isEmpty();
    }

    @Test
    void aConflictDuringTheUndoOfABlockBlocksTheKeyAgain() throws Exception {
        RuntimeChange block = one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        String seen = one.changes.view().tag();
        two.changes.run();
        two.make(policy("limit", "50/1m"));
        assertThatThrownBy(() -> one.changes.undo(block.number(), "back", "bob", seen))
                .isInstanceOf(ChangeConflictException.class);
        assertThat(one.target.calls).endsWith("unblock api " + KEY, "apply", "block api " + KEY + " PT2H");
        String again = one.changes.view().tag();
        two.undo(block.number());
        assertThatThrownBy(() -> one.changes.undo(block.number(), "back", "bob", again))
                .isInstanceOf(ChangeConflictException.class);
        assertThat(one.target.calls).as("the other undo ended the block").endsWith("unblock api " + KEY);
    }

    @Test
    void aStoreThatDoesNotAnswerChangesNothing() throws Exception {
        store.failing = true;
        assertThatThrownBy(() -> one.make(policy("limit", "50/1m")))
                .isInstanceOfSatisfying(
                        RateLimitUnavailableException.class,
                        thrown -> assertThat(thrown.reason()).isEqualTo("connection"));
        assertThatThrownBy(() -> one.changes.log(10)).isInstanceOf(RateLimitUnavailableException.class);
        assertThat(one.api()).isEqualTo("100 ENFORCE by map");
        store.failing = false;
        store.replaceFails = true;
        assertThatThrownBy(() -> one.make(ofKey(Kind.BLOCK, Optional.empty())))
                .isInstanceOf(RateLimitUnavailableException.class);
        assertThat(one.target.calls).as("no block without a record").isEmpty();
    }

    @Test
    void aChangeThatIsNotSentIsNotInDoubt() throws Exception {
        RuntimeChange block = one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        store.failing = true;
        assertThatThrownBy(() -> one.changes.make(policy("limit", "50/1m"), "another tag"))
                .as("the state cannot be read")
                .isInstanceOf(ChangeUnsentException.class)
                .hasMessage("connection");
        store.reason = BackendException.Reason.BREAKER_OPEN;
        assertThatThrownBy(() -> one.make(policy("limit", "50/1m")))
                .isInstanceOf(ChangeUnsentException.class)
                .hasMessage("breaker-open");
        assertThatThrownBy(() -> one.undo(block.number()))
                .as("the key is unblocked already")
                .isInstanceOf(RateLimitUnavailableException.class);
        store.failing = false;
        one.target.available = false;
        one.target.reason = "breaker-open";
        assertThatThrownBy(() -> one.undo(block.number()))
                .as("the key is still blocked")
                .isInstanceOf(ChangeUnsentException.class);
    }

    @Test
    void aChangeOfAVanishedPolicyIsKeptAndReportedOnce() throws Exception {
        one.make(policy("limit", "50/1m"));
        two.target.configuration.remove("ratelimit.policies.api.limit");
        two.changes.run();
        two.changes.run();
        assertThat(two.changes.view().withoutPolicy()).containsExactly(1L);
        assertThat(two.changes.view().active()).hasSize(1);
        assertThat(log.lines().stream()
                        .filter(line -> line.contains("WEIR-452"))
                        .toList())
                .containsExactly("WARNING WEIR-452 Runtime changes do not apply, because this instance does not have"
                        + " their policies: [1]. They are kept.");
        two.target.configuration.put("ratelimit.policies.api.limit", "100/1m");
        assertThat(two.changes.view().withoutPolicy()).isEmpty();
        assertThat(two.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
    }

    @Test
    void anUnsignedStateIsIgnoredReportedAndNotOverwritten() throws Exception {
        one.make(policy("limit", "50/1m"));
        Instance signed = new Instance(Optional.of("0123456789abcdef"));
        signed.changes.start(Duration.ofMillis(100));
        signed.changes.run();
        assertThat(signed.api()).isEqualTo("100 ENFORCE by map");
        assertThat(signed.changes.view().problem()).contains("the value is not signed");
        assertThat(log.lines().stream()
                        .filter(line -> line.contains("WEIR-452"))
                        .toList())
                .containsExactly("WARNING WEIR-452 The stored runtime changes are ignored: the value is not signed."
                        + " The last known changes stay in force until their ends.");
        assertThatThrownBy(() -> signed.make(policy("limit", "70/1m")))
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining("the stored state is ignored and is not overwritten: the value is not signed");
    }

    @Test
    void aLostStateStaysInForceAndTheNextChangeStoresIt() throws Exception {
        one.make(policy("limit", "50/1m"));
        two.changes.run();
        store.local = new LocalChangeStore(store.clock);
        two.changes.run();
        assertThat(two.api()).isEqualTo("50 ENFORCE by runtime change 1 by alice");
        assertThat(two.changes.view().problem()).contains("the backend has lost the state");
        pass(Duration.ofSeconds(1));
        two.make(policy("mode", "shadow"));
        assertThat(two.changes.view().problem()).isEmpty();
        one.changes.run();
        assertThat(one.api()).isEqualTo("50 SHADOW by runtime change 1 by alice");
        assertThat(log.lines()).contains("INFO WEIR-452 The stored runtime changes are in force again.");
    }

    @Test
    void anOlderStateIsIgnored() throws Exception {
        one.make(policy("limit", "50/1m"));
        CompletionStage<ChangeStore.Stored> old = store.local.read(ChangeStore.NO_TAG);
        pass(Duration.ofSeconds(1));
        one.make(policy("limit", "70/1m"));
        two.changes.run();
        ChangeStore current = store.local;
        LocalChangeStore replayed = new LocalChangeStore(store.clock);
        replayed.replace(
                ChangeStore.NO_TAG, old.toCompletableFuture().join().state().orElseThrow(), new byte[] {1});
        store.local = replayed;
        two.changes.run();
        assertThat(two.api()).isEqualTo("70 ENFORCE by runtime change 2 by alice");
        assertThat(two.changes.view().problem()).contains("the state is older than the known one");
        store.local = current;
        two.changes.run();
        assertThat(two.changes.view().problem()).isEmpty();
    }

    @Test
    void theAuditLogHasEachChangeOnceAndNoKey() throws Exception {
        one.make(policyFor(Duration.ofHours(1), "limit", "50/1m"));
        one.make(ofKey(Kind.OVERRIDE, Optional.empty(), "limit", "500/1m"));
        one.undo(1);
        two.changes.run();
        assertThat(log.lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .isEqualTo("INFO WEIR-450 Runtime change 1 by alice: policy api, from {limit=100/1m} to"
                                        + " {limit=50/1m}, end 2026-03-01T04:00:00Z. Reason: too many calls"),
                        line -> assertThat(line)
                                .startsWith("INFO WEIR-450 Runtime change 2 by alice: override of key ")
                                .endsWith(" of policy api, from {limit=50/1m} to {limit=500/1m}, end none."
                                        + " Reason: too many calls"),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "INFO WEIR-450 Runtime change 3 by bob undoes change 1: policy api, which had"
                                                + " {limit=50/1m}. Reason: back"),
                        line -> assertThat(line)
                                .isEqualTo("INFO WEIR-451 Runtime changes apply: [2]."
                                        + " Runtime changes ended or were undone: []."))
                .noneMatch(line -> line.contains(KEY));
    }

    @Test
    void aLongNameOfAnAuthorIsShortened() throws Exception {
        ChangeRequest request = new ChangeRequest(
                new Subject(Kind.POLICY, "api", Optional.empty()),
                Map.of("limit", "50/1m"),
                Optional.empty(),
                "too many calls",
                "cn=" + "a".repeat(300));
        assertThat(one.make(request).author()).hasSize(200).endsWith("a…");
        two.changes.run();
        assertThat(two.changes.view().active()).hasSize(1);
    }

    @Test
    void aBlockThatTheStoreRecordsWithoutAnAnswerIsMadeByTheNextRun() throws Exception {
        store.answerIsLost = true;
        assertThatThrownBy(() -> one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2)))))
                .isInstanceOf(RateLimitUnavailableException.class);
        store.answerIsLost = false;
        pass(Duration.ofMinutes(1));
        one.changes.run();
        one.changes.run();
        assertThat(one.changes.view().active()).hasSize(1);
        assertThat(one.target.calls).containsExactly("block api " + KEY + " PT1H59M");
        assertThat(log.lines()).filteredOn(line -> line.contains("WEIR-450")).hasSize(1);
    }

    @Test
    void theRecordedOneOfTwoBlocksWithoutAnAnswerIsMade() throws Exception {
        store.answerIsLost = true;
        assertThatThrownBy(() -> one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2)))))
                .isInstanceOf(RateLimitUnavailableException.class);
        store.answerIsLost = false;
        store.replaceFails = true;
        assertThatThrownBy(() -> one.make(request(
                        new Subject(Kind.BLOCK, "api", Optional.of("bob@example.com")),
                        Optional.of(Duration.ofHours(2)))))
                .isInstanceOf(RateLimitUnavailableException.class);
        store.replaceFails = false;
        one.changes.run();
        one.changes.run();
        assertThat(one.changes.view().active()).hasSize(1);
        assertThat(one.target.calls).containsExactly("block api " + KEY + " PT2H");
        assertThat(log.lines()).filteredOn(line -> line.contains("WEIR-450")).hasSize(1);
    }

    @Test
    void aBlockThatTheStoreDoesNotRecordIsNotMade() throws Exception {
        store.replaceFails = true;
        assertThatThrownBy(() -> one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2)))))
                .isInstanceOf(RateLimitUnavailableException.class);
        store.replaceFails = false;
        one.changes.run();
        two.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(1))));
        one.changes.run();
        assertThat(one.target.calls).isEmpty();
    }

    @Test
    void anUndoThatTheStoreRecordsWithoutAnAnswerIsInTheAuditLog() throws Exception {
        RuntimeChange change = one.make(policy("limit", "50/1m"));
        store.answerIsLost = true;
        assertThatThrownBy(() -> one.undo(change.number())).isInstanceOf(RateLimitUnavailableException.class);
        store.answerIsLost = false;
        one.changes.run();
        one.changes.run();
        assertThat(one.api()).isEqualTo("100 ENFORCE by map");
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-450 Runtime change 2 by bob undoes change 1"))
                .hasSize(1);
    }

    @Test
    void anUndoThatTheStoreDoesNotRecordIsNotInTheAuditLog() throws Exception {
        RuntimeChange change = one.make(policy("limit", "50/1m"));
        store.replaceFails = true;
        assertThatThrownBy(() -> one.undo(change.number())).isInstanceOf(RateLimitUnavailableException.class);
        store.replaceFails = false;
        pass(Duration.ofSeconds(1));
        two.changes.run();
        two.undo(change.number());
        one.changes.run();
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-450 Runtime change 2"))
                .as("only the undo of the other instance")
                .hasSize(1);
    }

    @Test
    void anOverrideThatIsInvalidOnAnotherInstanceIsIgnoredReportedOnceAndShown() throws Exception {
        one.target.configuration.put("ratelimit.policies.api.algorithm", "token-bucket");
        one.make(ofKey(Kind.OVERRIDE, Optional.empty(), "limit", "5/1m", "burst", "9"));
        two.changes.run();
        two.changes.run();
        assertThat(two.target.overrides).isEmpty();
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-452"))
                .singleElement()
                .asString()
                .startsWith(
                        "WARNING WEIR-452 Runtime changes are not in force on this instance: [1]. They are kept, and"
                                + " apply when they are valid again. Their problems:\n  WEIR-116 ratelimit.policies.api.burst = 9:");
        assertThat(two.changes.view().notInForce()).containsOnlyKeys(1L);
        assertThat(one.changes.view().notInForce()).isEmpty();
        assertThat(one.target.overrides).hasSize(1);
    }

    @Test
    void anOverrideThatTheBackendOfTheInstanceCannotEvaluateIsRejectedThereAndIgnoredElsewhere() throws Exception {
        two.target.concurrency = false;
        ChangeRequest request = ofKey(Kind.OVERRIDE, Optional.empty(), "concurrency", "3");
        assertThat(two.changes.problems(request))
                .extracting(ConfigurationProblem::id)
                .containsExactly("WEIR-134");
        assertThatThrownBy(() -> two.make(request)).isInstanceOf(InvalidChangeException.class);
        one.make(request);
        two.changes.run();
        assertThat(two.target.overrides).isEmpty();
        assertThat(two.changes.view().notInForce().get(1L))
                .extracting(ConfigurationProblem::id)
                .containsExactly("WEIR-134");
    }

    /** Makes the limit of the policy a calendar limit, which can have no burst. */
    private static void useCalendar(Instance instance) {
        instance.target.configuration.put("ratelimit.policies.api.limit", "1000/day");
        instance.target.configuration.put("ratelimit.policies.api.algorithm", "token-bucket");
    }

    @Test
    void aChangeThatIsValidOnlyUntilTheEndOfAnotherIsRejectedWithBoth() throws Exception {
        useCalendar(one);
        one.make(policyFor(Duration.ofHours(1), "limit", "100/1m"));
        assertThat(one.changes.problems(policy("burst", "200")))
                .extracting(ConfigurationProblem::toString)
                .containsExactly("WEIR-455 ratelimit.policies.api.burst = 200: this is invalid from"
                        + " 2026-03-01T04:00:00Z on, when runtime changes [1] end: WEIR-116 a calendar limit has no"
                        + " burst; let this change end by then, or a burst is the capacity of a token bucket or a leaky"
                        + " bucket, 1 or more");
        assertThatThrownBy(() -> one.make(policyFor(Duration.ofMinutes(61), "burst", "200")))
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining("WEIR-455");
        one.make(policyFor(Duration.ofHours(1), "burst", "200"));
        pass(Duration.ofHours(1));
        one.changes.run();
        assertThat(one.changes.view().notInForce()).isEmpty();
        assertThat(one.target.problems()).isEmpty();
    }

    @Test
    void onlyTheStatesThatRemainAsEndsPassAreChecked() throws Exception {
        useCalendar(one);
        one.make(policyFor(Duration.ofHours(3), "limit", "100/1m"));
        one.make(policyFor(Duration.ofHours(1), "limit", "300/1m"));
        one.make(policyFor(Duration.ofHours(2), "burst", "500"));
        assertThat(one.changes.problems(policyFor(Duration.ofHours(3), "burst", "700")))
                .as("the end of change 2 shows change 1, and not the configuration")
                .isEmpty();
    }

    @Test
    void anUndoThatLeavesAnotherChangeInvalidIsRejectedWithIt() throws Exception {
        useCalendar(one);
        one.make(policy("limit", "100/1m"));
        one.make(policy("burst", "200"));
        assertThatThrownBy(() -> one.undo(1))
                .isInstanceOf(InvalidChangeException.class)
                .hasMessageContaining(
                        "WEIR-455 ratelimit.policies.api.burst = 200: this is invalid without runtime change"
                                + " 1: WEIR-116 a calendar limit has no burst; first undo the runtime change that needs it: one"
                                + " of [2], or the override of a key");
        one.undo(2);
        one.undo(1);
        assertThat(one.changes.view().active()).isEmpty();
    }

    @Test
    void aChangeCanBeUndoneAlsoIfTheConfigurationIsInvalidWithoutIt() throws Exception {
        one.make(policy("limit", "50/1m"));
        one.target.configuration.put("ratelimit.policies.api.limit", "lots");
        one.target.configuration.put("ratelimit.policies.api.key", "ip");
        one.changes.run();
        one.target.names = Set.of("api", "other");
        one.undo(1);
        assertThat(one.changes.view().active()).isEmpty();
    }

    @Test
    void aChangeThatMakesTheLimitsOfAKeyInvalidIsRejectedWithTheirChange() throws Exception {
        one.target.maxOverride = 10;
        one.make(policyFor(Duration.ofHours(1), "mode", "shadow"));
        one.make(ofKey(Kind.OVERRIDE, Optional.of(Duration.ofMinutes(30)), "limit", "20/1m"));
        assertThat(one.changes.problems(policy("mode", "enforce")))
                .extracting(ConfigurationProblem::toString)
                .containsExactly("WEIR-456 place: runtime change 2, the limits of one key, would not be in force:"
                        + " WEIR-140 too much; first undo runtime change 2, or set other limits for its key");
        assertThat(one.changes.problems(ofKey(Kind.OVERRIDE, Optional.of(Duration.ofHours(2)), "limit", "20/1m")))
                .extracting(ConfigurationProblem::problem)
                .containsExactly("this is invalid from 2026-03-01T04:00:00Z on, when runtime changes [1] end: WEIR-140"
                        + " too much");
        assertThatThrownBy(() -> one.undo(1)).hasMessageContaining("WEIR-456");
    }

    @Test
    void aReloadThatMakesAChangeInvalidIsReportedOnceAndShownUntilItIsValidAgain() throws Exception {
        one.target.configuration.put("ratelimit.policies.api.algorithm", "token-bucket");
        one.make(policy("burst", "200"));
        useCalendar(one);
        one.changes.run();
        one.changes.run();
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-452"))
                .singleElement()
                .asString()
                .contains("Runtime changes are not in force on this instance: [1]")
                .contains("a calendar limit has no burst");
        assertThat(one.changes.view().notInForce()).containsOnlyKeys(1L);
        one.target.configuration.put("ratelimit.policies.api.limit", "100/1m");
        one.changes.run();
        assertThat(one.changes.view().notInForce()).isEmpty();
    }

    @Test
    void aStepBackOfTheStoresClockDoesNotMoveTheEndOfAChange() throws Exception {
        one.make(policyFor(Duration.ofHours(1), "limit", "50/1m"));
        two.changes.run();
        store.step = Duration.ofDays(-1);
        two.changes.run();
        Instance later = new Instance(Optional.empty());
        later.changes.start(Duration.ofMillis(100));
        pass(Duration.ofMinutes(59));
        for (Instance instance : List.of(one, two, later)) {
            instance.changes.run();
            assertThat(instance.api()).startsWith("50 ");
        }
        pass(Duration.ofMinutes(1));
        for (Instance instance : List.of(one, two, later)) {
            instance.changes.run();
            assertThat(instance.api()).startsWith("100 ");
        }
        RuntimeChange next = one.make(policyFor(Duration.ofHours(1), "limit", "70/1m"));
        assertThat(next.until()).contains(START.plus(Duration.ofHours(2)));
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-457"))
                .hasSize(3)
                .containsOnly(
                        "WARNING WEIR-457 The clock of the backend has stepped. The clock of this instance decides"
                                + " the ends of runtime changes until both agree again.");
        store.step = Duration.ofMinutes(-2);
        one.changes.run();
        one.changes.run();
        assertThat(one.changes.view().read()).contains(store.clock.instant());
        assertThat(log.lines())
                .last()
                .isEqualTo("INFO WEIR-457 The clocks of the backend and of this instance agree again. The clock of the"
                        + " backend decides the ends of runtime changes.");
    }

    @Test
    void aStepBackOfTheStoresClockAfterAnErrorDoesNotLengthenLaterChanges() throws Exception {
        store.step = Duration.ofDays(1);
        one.changes.run();
        Instance wrong = new Instance(Optional.empty());
        wrong.changes.start(Duration.ofMillis(100));
        wrong.make(policyFor(Duration.ofHours(1), "mode", "shadow"));
        store.step = Duration.ZERO;
        one.changes.run();
        RuntimeChange change = one.make(policyFor(Duration.ofHours(1), "limit", "50/1m"));
        assertThat(change.until()).contains(START.plus(Duration.ofHours(1)));
        two.changes.run();
        assertThat(two.api()).startsWith("50 ");
        pass(Duration.ofHours(1));
        two.changes.run();
        assertThat(two.api()).startsWith("100 ");
    }

    @Test
    void aBlockThatTheStoreMayHaveLostIsShownUntilItIsMadeAgainOrUndone() throws Exception {
        one.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        two.changes.run();
        store.local = new LocalChangeStore(store.clock);
        two.changes.run();
        two.changes.run();
        assertThat(two.changes.view().notInForce().get(1L))
                .singleElement()
                .hasToString(
                        "WEIR-453 runtime change 1: the backend has lost its data, so the key may not be blocked any"
                                + " more; undo the change and block the key again");
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-453 runtime change 1"))
                .hasSize(1);
        pass(Duration.ofSeconds(1));
        two.make(policy("mode", "shadow"));
        two.changes.run();
        assertThat(two.changes.view().notInForce())
                .as("a stored list does not restore the block")
                .containsOnlyKeys(1L);
        assertThat(two.target.calls).noneMatch(call -> call.startsWith("block"));
        two.make(ofKey(Kind.BLOCK, Optional.of(Duration.ofHours(2))));
        assertThat(two.changes.view().notInForce()).isEmpty();
        assertThat(two.target.calls).anyMatch(call -> call.startsWith("block"));
    }
}
