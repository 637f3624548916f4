// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.console.report.MinuteCounts;
import io.weir.ratelimit.console.report.Rates;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The repeated report of this instance. One thread runs it at a time. A report is skipped if the last one is under way, or if the breaker
 * of the backend is open. Then the next one adds the counts of the last minute to the history.
 */
final class FleetReports implements Runnable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");

    /** The seconds that the rates still have when a report reads them: those of a minute less one that can end meanwhile. */
    private static final int SECONDS = Rates.SECONDS - 1;

    /** The policies with their own history, those with the most decisions. */
    static final int MAX_POLICIES = 100;

    /** The longest name of a policy with its own history. */
    private static final int MAX_NAME = 150;

    private final String instance;
    private final FleetStore store;
    private final ReportBuilder builder;
    private final LiveRates rates;
    private final MinuteCounts minutes;
    private final Clock clock;
    private @Nullable CompletableFuture<Instant> underWay;

    /** The first second that no report has added to the history. */
    private long nextSecond;

    /** How far the clock of the store is ahead; null before its first answer. */
    private volatile @Nullable Duration ahead;

    private volatile boolean rejected;

    /** Whether the last report has an answer, or there was none. */
    private volatile boolean answered = true;

    FleetReports(
            String instance,
            FleetStore store,
            ReportBuilder builder,
            LiveRates rates,
            MinuteCounts minutes,
            Clock clock) {
        this.instance = instance;
        this.store = store;
        this.builder = builder;
        this.rates = rates;
        this.minutes = minutes;
        this.clock = clock;
        this.nextSecond = rates.second();
    }

    /** Reports once, without waiting for the store. */
    @Override
    public void run() {
        if (underWay != null && !underWay.isDone()) {
            return;
        }
        InstanceReport report = builder.build();
        minutes.record(report.keys());
        long second = rates.second();
        Map<Long, byte[]> counts = ahead == null ? Map.of() : counts(second);
        answered = false;
        CompletableFuture<Instant> sent =
                store.report(instance, ReportCodec.write(report), counts).toCompletableFuture();
        underWay = sent;
        // Counts that may have been added are never added again.
        if (!wasNotSent(sent)) {
            nextSecond = ahead == null ? nextSecond : second;
        }
        CompletionStage<Instant> end = sent;
        end.whenComplete(this::ended);
    }

    /** Tests whether a report failed at once, without a call of the store. */
    private static boolean wasNotSent(CompletableFuture<Instant> sent) {
        return sent.isCompletedExceptionally()
                && sent.handle((time, failure) -> reason(failure)).join() == Reason.BREAKER_OPEN;
    }

    private static @Nullable Reason reason(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof BackendException known ? known.reason() : null;
    }

    private void ended(@Nullable Instant time, @Nullable Throwable failure) {
        if (time != null) {
            ahead = Duration.between(clock.instant(), time);
            rejected = false;
            answered = true;
            return;
        }
        if (!rejected && failure != null && reason(failure) == Reason.BACKEND_ERROR) {
            rejected = true;
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            MESSAGES.log(
                    LOG,
                    "WEIR-441",
                    String.valueOf(Objects.requireNonNull(cause).getMessage()));
        }
    }

    /** Tests whether the store has answered the last report. */
    boolean isAnswered() {
        return answered;
    }

    /** Returns the time of the store. */
    Instant storeTime() {
        Duration known = ahead;
        return known == null ? clock.instant() : clock.instant().plus(known);
    }

    /** Returns the counts of the seconds before a second that are not in the history yet, by the number of their step. */
    private Map<Long, byte[]> counts(long second) {
        int missing = (int) Math.min(SECONDS, second - nextSecond);
        long now = storeTime().getEpochSecond();
        Map<String, Rates> byPolicy = new HashMap<>();
        for (String policy : rates.policies()) {
            byPolicy.put(policy, rates.of(policy));
        }
        Map<Long, StepCounts> steps = new HashMap<>();
        for (int back = missing; back > 0; back--) {
            int position = Rates.SECONDS - back;
            StepCounts step = steps.computeIfAbsent(
                    Math.floorDiv(now - back, FleetStore.STEP.toSeconds()), first -> new StepCounts());
            byPolicy.values().forEach(ofPolicy -> step.add(StepCounts.ALL, at(position, ofPolicy)));
        }
        for (String policy : mostDecided(byPolicy, missing)) {
            Rates ofPolicy = Objects.requireNonNull(byPolicy.get(policy));
            for (int back = missing; back > 0; back--) {
                StepCounts.Counts counts = at(Rates.SECONDS - back, ofPolicy);
                StepCounts step = steps.get(Math.floorDiv(now - back, FleetStore.STEP.toSeconds()));
                if (counts.decided() > 0 && step != null) {
                    step.add(StepCounts.nameOf(policy), counts);
                }
            }
        }
        Map<Long, byte[]> lines = new HashMap<>();
        steps.forEach((number, step) -> {
            if (step.of(StepCounts.ALL).decided() > 0) {
                lines.put(number, step.lines());
            }
        });
        return lines;
    }

    private static StepCounts.Counts at(int position, Rates rates) {
        return new StepCounts.Counts(
                rates.decided().get(position), rates.rejected().get(position));
    }

    private static List<String> mostDecided(Map<String, Rates> byPolicy, int seconds) {
        Map<String, Long> decided = new HashMap<>();
        byPolicy.forEach((policy, rates) -> decided.put(
                policy,
                rates.decided().subList(Rates.SECONDS - seconds, Rates.SECONDS).stream()
                        .mapToLong(Long::longValue)
                        .sum()));
        decided.entrySet()
                .removeIf(entry -> entry.getValue() == 0
                        || entry.getKey().length() > MAX_NAME
                        || entry.getKey().chars().anyMatch(Character::isISOControl));
        return decided.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(MAX_POLICIES)
                .map(Map.Entry::getKey)
                .toList();
    }
}
