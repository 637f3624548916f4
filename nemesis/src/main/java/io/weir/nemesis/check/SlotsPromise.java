// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * At most as many calls as slots run at once, and a slot comes back after its call (failures.md, "Slots"; limit-concurrent-calls.md,
 * "Effects"). A call can lose its slot if Redis loses its data, and if its instance cannot renew it for two thirds of the timeout less
 * three seconds. A failover can undo a release: the slot then comes back after its timeout. A step of the
 * clock of Redis moves the ends of slots (clocks.md).
 */
public final class SlotsPromise {
    /** The longest time of the release of a slot, also of three confirmations after a lost reply. */
    private static final Duration RELEASED_WITHIN = Duration.ofSeconds(10);

    /** A failed renewal is tried again every second. */
    private static final Duration TRIED_AGAIN_WITHIN = Duration.ofSeconds(1);

    private static final Duration RENEWED_WITHIN = Duration.ofSeconds(3);

    private SlotsPromise() {}

    /** Returns the promise that no more calls than slots run at once. */
    public static Promise calls() {
        return new Part("slots", SlotsPromise::tooMany);
    }

    /** Returns the promise that a slot comes back. */
    public static Promise back() {
        return new Part("slots come back", SlotsPromise::notBack);
    }

    private record Part(String name, Check check) implements Promise {
        @Override
        public List<Violation> check(History history) {
            List<Violation> violations = new ArrayList<>();
            history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                            && history.policy(operation).form() == Form.CONCURRENCY)
                    .values()
                    .forEach(acquired -> check.first(acquired, new Ends(history))
                            .map(call -> new Violation(name, call.operation(), call.reason()))
                            .ifPresent(violations::add));
            return violations;
        }
    }

    private interface Check {
        Optional<Violation> first(List<Operation> acquired, Ends ends);
    }

    /** The change of a number of calls. */
    private record Step(long at, int change, Operation call) {}

    private static Optional<Violation> tooMany(List<Operation> acquired, Ends ends) {
        List<Step> steps = new ArrayList<>();
        for (Operation call : acquired) {
            long until = call.outcome() == Outcome.ALLOWED ? ends.surelyHeldUntil(call) : 0;
            if (until > call.end()) {
                steps.add(new Step(call.end(), 1, call));
                steps.add(new Step(until, -1, call));
            }
        }
        steps.sort(Comparator.comparingLong(Step::at).thenComparingInt(Step::change));
        long permits = acquired.isEmpty() ? 0 : ends.policy(acquired.get(0)).permits();
        int running = 0;
        for (Step step : steps) {
            running += step.change();
            if (running > permits) {
                return Optional.of(new Violation("", step.call(), running + " calls run at once, limit " + permits));
            }
        }
        return Optional.empty();
    }

    private static Optional<Violation> notBack(List<Operation> acquired, Ends ends) {
        long[] starts = acquired.stream()
                .filter(Predicate.not(SlotsPromise::isRejected))
                .mapToLong(Operation::start)
                .sorted()
                .toArray();
        long[] until = acquired.stream()
                .filter(Predicate.not(SlotsPromise::isRejected))
                .mapToLong(ends::possiblyHeldUntil)
                .sorted()
                .toArray();
        for (Operation call : acquired) {
            if (isRejected(call)) {
                int possible = Sorted.upTo(starts, call.end()) - Sorted.before(until, call.start());
                if (possible < ends.policy(call).permits()) {
                    return Optional.of(
                            new Violation("", call, "rejected while at most " + possible + " slots are taken"));
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isRejected(Operation call) {
        return call.outcome() == Outcome.REJECTED;
    }

    /** The ends of slots. */
    private static final class Ends {
        private final History history;
        private final Map<Long, Operation> releases = new HashMap<>();
        private final List<Span> losses;

        Ends(History history) {
            this.history = history;
            this.losses = history.renewals(Form.CONCURRENCY);
            history.operations().stream()
                    .filter(operation -> operation.kind() == Kind.RELEASE)
                    .forEach(release -> releases.put(release.call(), release));
        }

        Policy policy(Operation call) {
            return history.policy(call);
        }

        long surelyHeldUntil(Operation call) {
            Operation release = releases.get(call.number());
            long end = release == null ? Long.MAX_VALUE : release.start();
            long timeout = policy(call).window().toNanos();
            long most = timeout * 2 / 3 - RENEWED_WITHIN.toNanos();
            Stream<Long> exceptions = Stream.of(
                            losses.stream(),
                            history.times(call.instance(), Effect.DEATH, Duration.ZERO).stream(),
                            history.cutOff(call.instance(), history.recovery().plus(TRIED_AGAIN_WITHIN)).stream()
                                    .filter(span -> span.to() - span.from() >= most))
                    .flatMap(spans -> spans)
                    .filter(span -> span.to() >= call.start())
                    .map(Span::from);
            return exceptions.reduce(end, Math::min);
        }

        long possiblyHeldUntil(Operation call) {
            Operation release = releases.get(call.number());
            long timeout = policy(call).window().toNanos();
            long extension = history.extension(call.start(), Long.MAX_VALUE);
            boolean isReleased = release != null && release.outcome() == Outcome.DONE;
            if (call.outcome() == Outcome.LOST || (call.outcome() == Outcome.ALLOWED && !isReleased)) {
                return history.times(call.instance(), Effect.DEATH, Duration.ZERO).stream()
                        .filter(death -> death.to() >= call.start())
                        .map(death -> death.to() + timeout + RELEASED_WITHIN.toNanos() + extension)
                        .findFirst()
                        .orElse(Long.MAX_VALUE);
            }
            long from = release == null ? call.start() : release.start();
            long end = release == null ? call.end() : release.end();
            for (Span span : history.cutOff(call.instance(), RELEASED_WITHIN)) {
                if (span.overlaps(from, end + RELEASED_WITHIN.toNanos())) {
                    end = Math.max(end, span.to());
                }
            }
            for (Span span : history.times(Fault.ALL, Effect.ROLLBACK, Duration.ZERO)) {
                if (span.overlaps(from, end + RELEASED_WITHIN.toNanos())) {
                    end = Math.max(end, span.to() + timeout + extension);
                }
            }
            // An instance that dies before it has released a slot leaves it.
            long quick = end + RELEASED_WITHIN.toNanos();
            return history.has(call.instance(), Effect.DEATH, from, quick) ? quick + timeout + extension : quick;
        }
    }
}
