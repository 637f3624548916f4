// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A reader of the reports of all instances. It reads the store at most once in {@link #LIFETIME}, whatever the number of pages. The report
 * of this instance is always the current one.
 */
final class FleetReader {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");

    /** The time for which reports are used again: as long as a change takes until it applies on all instances. */
    static final Duration LIFETIME = Duration.ofSeconds(1);

    /** The time after a failed reading in which the store is not read. */
    static final Duration PAUSE = Duration.ofSeconds(2);

    /** The estimated memory for the reports of all other instances, in bytes. Further reports count as unreadable. */
    static final long MAX_MEMORY = 64L << 20;

    /** The age from which on the last reading is not shown while another thread reads: its instances can have vanished since. */
    private static final Duration OLD = Duration.ofSeconds(5);

    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final Comparator<Fleet.Member> ORDER = Comparator.comparing((Fleet.Member member) -> !member.self())
            .thenComparing(member -> member.report().origin().host())
            .thenComparing(member -> member.report().origin().started())
            .thenComparing(Fleet.Member::name)
            .thenComparing(Fleet.Member::id);

    private final String self;
    private final Optional<FleetStore> store;
    private final ReportBuilder builder;
    private final Supplier<Instant> storeTime;
    private final LongSupplier nanoTime;
    private final MessageCatalog.Sampler unreadable = new MessageCatalog.Sampler(TimeUnit.MINUTES.toNanos(1));
    private final ReentrantLock reading = new ReentrantLock();
    private volatile Reading last;

    private record Reading(long nanos, List<Fleet.Member> others, int unreadable, Optional<String> problem) {}

    /** Creates a reader of a store, empty if instances do not share one. */
    FleetReader(
            String self,
            Optional<FleetStore> store,
            ReportBuilder builder,
            Supplier<Instant> storeTime,
            LongSupplier nanoTime) {
        this.self = self;
        this.store = store;
        this.builder = builder;
        this.storeTime = storeTime;
        this.nanoTime = nanoTime;
        this.last = new Reading(nanoTime.getAsLong() - OLD.toNanos(), List.of(), 0, Optional.empty());
    }

    /** Returns the fleet. Waits for the store for a second at most; then the reports are those of the last reading. */
    Fleet read() {
        Reading current = store.isPresent() ? current(store.get()) : last;
        List<Fleet.Member> members = new ArrayList<>();
        members.add(new Fleet.Member(self, true, Duration.ZERO, builder.build()));
        Duration since = Duration.ofNanos(nanoTime.getAsLong() - current.nanos);
        for (Fleet.Member other : current.others) {
            Duration age = other.age().plus(since);
            if (age.compareTo(FleetStore.REPORT_LIFETIME) < 0) {
                members.add(new Fleet.Member(other.id(), false, age, other.report()));
            }
        }
        members.sort(ORDER);
        return new Fleet(storeTime.get(), store.isPresent(), members, current.unreadable, current.problem);
    }

    /** Returns the last reading, or a new one if it is not current. While another thread reads, the last one is returned unless it is old. */
    private Reading current(FleetStore shared) {
        if (isCurrent(last)) {
            return last;
        }
        if (!locked()) {
            Reading known = last;
            return isOld(known) ? failed(nanoTime.getAsLong(), known, "timeout") : known;
        }
        try {
            Reading current = last;
            if (!isCurrent(current)) {
                current = read(shared, current);
                last = current;
            }
            return current;
        } finally {
            reading.unlock();
        }
    }

    private boolean isCurrent(Reading known) {
        Duration lifetime = known.problem.isPresent() ? PAUSE : LIFETIME;
        return nanoTime.getAsLong() - known.nanos < lifetime.toNanos();
    }

    private boolean isOld(Reading known) {
        return nanoTime.getAsLong() - known.nanos >= OLD.toNanos();
    }

    private boolean locked() {
        if (!isOld(last)) {
            return reading.tryLock();
        }
        try {
            return reading.tryLock(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Reading read(FleetStore shared, Reading before) {
        long now = nanoTime.getAsLong();
        try {
            return reading(now, shared.reports().toCompletableFuture().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(now, before, "interrupted");
        } catch (TimeoutException e) {
            return failed(now, before, "timeout");
        } catch (ExecutionException e) {
            return failed(
                    now,
                    before,
                    e.getCause() instanceof BackendException known
                            ? known.reason().tag()
                            : "error");
        }
    }

    private Reading reading(long now, List<FleetStore.StoredReport> reports) {
        List<Fleet.Member> others = new ArrayList<>();
        ReportCodec.Allowance allowance = new ReportCodec.Allowance(MAX_MEMORY);
        int ignored = 0;
        for (FleetStore.StoredReport stored : reports) {
            if (stored.instance().equals(self)) {
                continue;
            }
            Optional<InstanceReport> report = stored.content().flatMap(content -> ReportCodec.read(content, allowance));
            if (report.isPresent()) {
                others.add(new Fleet.Member(stored.instance(), false, stored.age(), report.get()));
            } else {
                ignored++;
            }
        }
        if (ignored > 0 && unreadable.countToLog(now) > 0) {
            MESSAGES.log(LOG, "WEIR-440", ignored);
        }
        return new Reading(now, others, ignored, Optional.empty());
    }

    /** Keeps the last reports, which grow older meanwhile. */
    private static Reading failed(long now, Reading before, String problem) {
        Duration since = Duration.ofNanos(now - before.nanos);
        return new Reading(
                now,
                before.others.stream()
                        .map(member -> new Fleet.Member(
                                member.id(), false, member.age().plus(since), member.report()))
                        .toList(),
                before.unreadable,
                Optional.of(problem));
    }
}
