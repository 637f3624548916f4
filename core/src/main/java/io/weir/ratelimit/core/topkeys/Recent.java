// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.topkeys.SpaceSaving.Bounds;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The heavy keys of one policy in two spans of time, the one at hand and the one before: what is older is forgotten as a whole. */
final class Recent {
    /** How many keys are told of. */
    static final int SHOWN = 20;

    static final long SPAN_NANOS = TimeUnit.MINUTES.toNanos(5);

    private volatile Span now;

    private static final class Span {
        private final long startNanos;
        private final SpaceSaving active = new SpaceSaving();

        /** Most policies refuse nobody. */
        private volatile @Nullable SpaceSaving rejected;

        private volatile @Nullable Span before;

        private Span(long startNanos, @Nullable Span before) {
            this.startNanos = startNanos;
            this.before = before;
        }

        /** This one and the one before, if that counts. */
        private List<Span> all() {
            Span older = before;
            return older == null ? List.of(this) : List.of(older, this);
        }

        private SpaceSaving rejections() {
            SpaceSaving made = rejected;
            if (made == null) {
                synchronized (this) {
                    made = rejected;
                    if (made == null) {
                        made = new SpaceSaving();
                        rejected = made;
                    }
                }
            }
            return made;
        }
    }

    Recent(long nanos) {
        this.now = new Span(nanos, null);
    }

    void saw(String storedKey, boolean rejected, long nanos) {
        Span span = at(nanos);
        span.active.saw(storedKey);
        if (rejected) {
            span.rejections().saw(storedKey);
        }
    }

    private Span at(long nanos) {
        Span span = now;
        return nanos - span.startNanos < SPAN_NANOS ? span : turned(nanos);
    }

    private synchronized Span turned(long nanos) {
        Span last = now;
        long age = nanos - last.startNanos;
        if (age >= SPAN_NANOS) {
            last.before = null;
            now = new Span(nanos, age < 2 * SPAN_NANOS ? last : null);
        }
        return now;
    }

    TopKeys top(UnaryOperator<String> shown, long nanos) {
        List<Span> spans = at(nanos).all();
        return new TopKeys(
                top(spans, span -> span.rejected, shown),
                top(spans, span -> span.active, shown),
                Duration.ofNanos(Math.max(0, nanos - spans.get(0).startNanos)));
    }

    private static List<TopKeys.Entry> top(
            List<Span> spans, Function<Span, @Nullable SpaceSaving> which, UnaryOperator<String> shown) {
        List<SpaceSaving> sketches =
                spans.stream().map(which).filter(sketch -> sketch != null).toList();
        List<Found> most = sketches.stream()
                .flatMap(sketch -> sketch.keys().stream())
                .distinct()
                .map(key -> Found.in(sketches, key))
                .sorted(Found.MOST_FIRST)
                .limit(SHOWN)
                .toList();
        // So that the last one of a full list bounds the keys that are in no counter, too.
        long others = most.size() < SHOWN
                ? 0
                : sketches.stream().mapToLong(SpaceSaving::mostOfOthers).sum();
        return most.stream()
                .map(found -> new TopKeys.Entry(
                        shown.apply(found.key), found.bounds.atLeast(), Math.max(others, found.bounds.atMost())))
                .toList();
    }

    private record Found(String key, Bounds bounds) {
        private static final Comparator<Found> MOST_FIRST = Comparator.comparingLong(
                        (Found found) -> found.bounds.atMost())
                .thenComparingLong(found -> found.bounds.atLeast())
                .reversed()
                .thenComparing(Found::key);

        private static Found in(List<SpaceSaving> sketches, String key) {
            return new Found(
                    key, sketches.stream().map(sketch -> sketch.bounds(key)).reduce(new Bounds(0, 0), Bounds::plus));
        }
    }

    /** The identities in their stored form that have a counter. */
    Set<String> identities() {
        Set<String> identities = new LinkedHashSet<>();
        now.all().forEach(span -> {
            identities.addAll(span.active.keys());
            SpaceSaving rejected = span.rejected;
            if (rejected != null) {
                identities.addAll(rejected.keys());
            }
        });
        return identities;
    }
}
