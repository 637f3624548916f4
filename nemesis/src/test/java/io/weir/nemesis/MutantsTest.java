// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weir.nemesis.check.Checker;
import io.weir.nemesis.check.Promise;
import io.weir.nemesis.check.Violation;
import io.weir.nemesis.run.Instance;
import io.weir.nemesis.run.Run;
import io.weir.nemesis.run.Topology;
import io.weir.ratelimit.fixtures.RedisClock;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The checker finds each of these changes of Weir, which break one promise each. */
class MutantsTest {
    /** A slow machine can hide what a mutant breaks, so a mutant has some runs, each twice as long as the one before. */
    private static final int RUNS = 3;

    private static final int FIRST_SEED = 37;
    private static final Duration FIRST_LENGTH = Duration.ofSeconds(6);
    private static final Duration RECOVERY = Duration.ofSeconds(4);

    /** A slot that is not released, and an open breaker, are known as that only after the time in which they may be so. */
    private static final Duration LONG_RECOVERY = Duration.ofSeconds(12);

    private static final String FAILED_PROBE =
            "if string.find(keys[1], '+probe', 1, true) then return redis.error_reply('ERR mutant') end\n";

    /** The first one of each promise always runs, so it needs no tool. */
    private enum Mutant {
        /** A key that Redis does not know stays behind when its hash slot moves. */
        A_KEY_IS_NOT_DECLARED(
                "limit", "acquire.lua", "key = keys[first + part - 1]", "key = keys[first + part - 1] .. '+'"),
        WINDOWS_END_EARLY("limit", "acquire.lua", "b == 0 or elapsed >= length", "b == 0 or 10 * elapsed >= length"),
        A_CALL_SPENDS_TWICE("room", "acquire.lua", "b = b + needed * allowed", "b = b + 2 * needed * allowed"),
        A_BUCKET_RETURNS_HALF("room", "acquire.lua", "b - elapsed * permits", "b - floor(elapsed * permits / 2)"),
        A_REFUND_IS_LOST(
                "account",
                "refund.lua",
                "isChanged = isChanged or text ~= (stored and stored[4] or nil)",
                "text = text"),
        A_PART_STAYS_SPENT(
                "all or nothing",
                "acquire.lua",
                "    if sections and allowed > 0 then",
                "    if allowed == 0 and groupKeys > 1 and texts[1] then\n"
                        + "      put(call, keys[first], texts[1], lives[1])\n    end\n"
                        + "    if sections and allowed > 0 then"),
        A_SHADOW_REJECTS("shadow mode", "ratelimit.policies.trial.mode", "enforce"),
        ONE_MORE_CALL_RUNS("slots", "general.lua", "limit.permits - count", "limit.permits + 1 - count"),
        A_SLOT_IS_NOT_RELEASED("slots come back", "release.lua", "held = slots.remove(held, from)", "held = held"),
        THE_FAILURE_MODE_IS_IGNORED("failure mode", "ratelimit.policies.account.on-failure", "open"),
        A_SHARE_IS_THE_LIMIT("failure mode", "ratelimit.instances", "1"),
        A_CALL_WAITS_FOR_REDIS("deadline", "ratelimit.redis.deadline", "5s"),
        THE_BREAKER_STAYS_OPEN("recovery", "acquire.lua", "local isPlain", FAILED_PROBE + "local isPlain"),
        A_BLOCK_HAS_NO_EFFECT("blocks", "general.lua", "isBlocked or key and key.block", "false"),
        A_REJECTION_IS_A_200("limit", MutantInstance.Unlimited.class),
        A_RETRY_AFTER_IS_MISSING("quotas", MutantInstance.Waitless.class),
        A_RETRY_AFTER_IS_SHORT("quotas", MutantInstance.Hasty.class),
        AN_EVENT_IS_REPEATED("thresholds", MutantInstance.Repeating.class),
        AN_EVENT_IS_MISSING("thresholds", MutantInstance.Silent.class),
        A_PENALTY_IS_REPEATED("penalties", MutantInstance.Repeating.class),
        A_PENALTY_IS_MISSING("penalties", MutantInstance.Silent.class),
        A_PENALTY_IS_EARLY("penalties", "ratelimit.policies.penalized.penalty.after", "2/2s"),
        A_KEY_STAYS(
                "time to live", "state.lua", "sections, 'PX', math.max(1, math.ceil((ends - now) / 1000))", "sections"),
        A_STEP_BACK_LOCKS_OUT("room", "state.lua", "a, b = math.min(a, now), ", "a, b = a, "),
        A_RETRY_AFTER_IS_IGNORED("outgoing pauses", "ratelimit.clients.upstream.obey", "none"),
        A_CHANGE_IS_READ_ONCE("changes", "changes.lua", "tag == given and", "given ~= '-' and");

        private final String promise;
        private final Class<?> program;
        private final String script;
        private final String from;
        private final String to;
        private final Map<String, String> properties;

        /** A change of a script. */
        Mutant(String promise, String script, String from, String to) {
            this.promise = promise;
            this.program = Instance.class;
            this.script = script;
            this.from = from;
            this.to = to;
            this.properties = Map.of();
        }

        /** A property that is ignored or wrong. */
        Mutant(String promise, String property, String value) {
            this.promise = promise;
            this.program = Instance.class;
            this.script = "";
            this.from = "";
            this.to = "";
            this.properties = Map.of(property, value);
        }

        /** A changed observer of events. */
        Mutant(String promise, Class<?> program) {
            this.promise = promise;
            this.program = program;
            this.script = "";
            this.from = "";
            this.to = "";
            this.properties = Map.of();
        }

        /** Returns the class path, which begins with the changed script. */
        String classPath(Path folder) throws IOException {
            if (script.isEmpty()) {
                return Run.classPath();
            }
            String resource = "META-INF/weir/lua/" + script;
            try (InputStream original = Mutant.class.getClassLoader().getResourceAsStream(resource)) {
                String text = new String(original.readAllBytes(), StandardCharsets.UTF_8);
                assertThat(text).contains(from);
                Path changed = folder.resolve(resource);
                Files.createDirectories(changed.getParent());
                Files.writeString(changed, text.replace(from, to));
            }
            return folder + File.pathSeparator + Run.classPath();
        }
    }

    @Tag("ci")
    @Tag("fault")
    @ParameterizedTest
    @MethodSource("firstOfEachPromise")
    void oneOfEachPromiseIsFound(Mutant mutant, @TempDir Path folder) throws IOException {
        assertFound(mutant, folder);
    }

    @Tag("long")
    @Tag("fault")
    @ParameterizedTest
    @MethodSource("others")
    void theOthersAreFound(Mutant mutant, @TempDir Path folder) throws IOException {
        assertFound(mutant, folder);
    }

    private static Collection<Mutant> firstOfEachPromise() {
        return Arrays.stream(Mutant.values())
                .collect(Collectors.toMap(
                        mutant -> mutant.promise, mutant -> mutant, (first, later) -> first, LinkedHashMap::new))
                .values();
    }

    private static List<Mutant> others() {
        List<Mutant> others = new ArrayList<>(List.of(Mutant.values()));
        others.removeAll(firstOfEachPromise());
        return others;
    }

    private static void assertFound(Mutant mutant, Path folder) throws IOException {
        boolean isOfClock = mutant == Mutant.A_STEP_BACK_LOCKS_OUT;
        assumeTrue(!isOfClock || RedisClock.isAvailable(), "needs the package faketime");
        boolean isOfCluster = mutant == Mutant.A_KEY_IS_NOT_DECLARED;
        boolean isLate =
                isOfClock || mutant == Mutant.A_SLOT_IS_NOT_RELEASED || mutant == Mutant.THE_BREAKER_STAYS_OPEN;
        boolean needsOutage = mutant == Mutant.THE_BREAKER_STAYS_OPEN || !mutant.properties.isEmpty();
        String fault =
                isOfCluster ? "slot-migrated" : isOfClock ? "redis-clock-back" : needsOutage ? "redis-stopped" : "none";
        Duration recovery = isLate ? LONG_RECOVERY : RECOVERY;
        List<Violation> violations = new ArrayList<>();
        for (int i = 0; i < RUNS; i++) {
            Run run = new Run(
                    FIRST_SEED + i,
                    2,
                    0,
                    isOfCluster ? Topology.CLUSTER : Topology.SINGLE,
                    FIRST_LENGTH.multipliedBy(1L << i),
                    List.of(fault),
                    false,
                    recovery,
                    1);
            violations.addAll(
                    Checker.check(run.execute(folder, mutant.program, mutant.classPath(folder), mutant.properties)));
            if (violations.stream().anyMatch(violation -> violation.promise().equals(mutant.promise))) {
                return;
            }
        }
        fail("only these violations were found: " + violations);
    }

    @Test
    void breakEachPromise() {
        assertThat(Arrays.stream(Mutant.values()).map(mutant -> mutant.promise))
                .containsAll(Checker.PROMISES.stream().map(Promise::name).toList());
    }
}
