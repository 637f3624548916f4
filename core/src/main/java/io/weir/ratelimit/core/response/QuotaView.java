// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.BiConsumer;

/**
 * The quotas that a response shows, one per limit and at least one. Their instant is in microseconds since the epoch by the clock of the
 * server. The decisive quota rejected the call, else it is the one closest to exhaustion.
 */
public record QuotaView(List<Quota> quotas, Quota decisive, long atMicros) {
    private static final long MICROS = 1_000_000;

    public static QuotaView allowed(List<Quota> quotas, long atMicros) {
        return new QuotaView(quotas, Quota.closestToExhaustion(quotas), atMicros);
    }

    public static QuotaView rejected(Decision.Rejected decision, long atMicros) {
        return new QuotaView(decision.quotas(), decision.decisiveQuota(), atMicros);
    }

    /**
     * Returns the instant of a server's time, read after the elapsed time, in microseconds since the epoch. It is rounded up, because a
     * client must not be told too early a time.
     */
    public static long epochMicros(long elapsedNanos, Instant now) {
        return now.getEpochSecond() * MICROS + (now.getNano() + 999) / 1_000 - elapsedNanos / 1_000;
    }

    /**
     * Returns the time until the decisive quota resets. Nobody knows when the calls under a concurrency limit end, so it has no reset, and a
     * rejection by it has its wait.
     */
    OptionalLong resetMicros() {
        if (decisive.kind() != Quota.Kind.CONCURRENCY) {
            return OptionalLong.of(Micros.resetAfter(decisive));
        }
        long wait = Micros.retryAfter(decisive);
        return decisive.rejected() && wait != Micros.NEVER
                ? OptionalLong.of(waitSeconds(wait) * MICROS)
                : OptionalLong.empty();
    }

    /** Returns when the decisive quota resets, in seconds since the epoch. Only the sum is rounded, so each end is one second. */
    OptionalLong resetSeconds() {
        OptionalLong reset = resetMicros();
        if (reset.isEmpty()) {
            return reset;
        }
        long micros = reset.getAsLong();
        return OptionalLong.of(atMicros / MICROS + micros / MICROS + ceilSeconds(atMicros % MICROS + micros % MICROS));
    }

    /** Converts microseconds to seconds, rounded up, because a client must not retry too early. */
    public static long ceilSeconds(long micros) {
        return micros / MICROS + (micros % MICROS == 0 ? 0 : 1);
    }

    /** Converts a wait to seconds, rounded up, and at least 1. */
    public static long waitSeconds(long micros) {
        return Math.max(1, ceilSeconds(micros));
    }

    /** Returns the wait of a rejected call in seconds, empty if no wait helps. */
    public static OptionalLong waitSeconds(Decision.Rejected decision) {
        long micros = Micros.retryAfter(decision.decisiveQuota());
        return micros == Micros.NEVER ? OptionalLong.empty() : OptionalLong.of(waitSeconds(micros));
    }

    /** A set of response header fields that tell a client its quotas. */
    public interface Dialect {
        /** The dialects by their names in the settings. */
        Map<String, Dialect> ALL = Map.of(
                "draft-11", new Draft11Headers(), "draft-06", new Draft06Headers(), "legacy", new LegacyHeaders());

        /** Returns the names of the fields. A response has the first field only if this dialect was written. */
        List<String> names();

        /** Writes the fields to a consumer of names and values. */
        void write(QuotaView view, BiConsumer<String, String> fields);

        static List<Dialect> named(List<String> names) {
            return names.stream().map(ALL::get).filter(Objects::nonNull).toList();
        }
    }
}
