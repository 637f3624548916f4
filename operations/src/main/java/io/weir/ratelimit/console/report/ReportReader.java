// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.metrics.Outcome;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BlocksKeys;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A reader of reports. Everyone who can write to the store can write a report, so each value is checked. A short element of a report can
 * need much more memory than its bytes, so the reader of all reports has an allowance for the memory of all of them.
 */
public final class ReportReader {
    /** The estimated memory of a text in addition to its characters, and of an element of a list in addition to its texts. */
    private static final int TEXT_BYTES = 48;

    private static final int ELEMENT_BYTES = 48;

    private static final Map<String, Outcome> OUTCOMES =
            Stream.of(Outcome.values()).collect(Collectors.toUnmodifiableMap(Outcome::tag, Function.identity()));
    private static final Map<String, KnownBlocks.Cause> CAUSES = Stream.of(KnownBlocks.Cause.values())
            .collect(Collectors.toUnmodifiableMap(KnownBlocks.Cause::name, Function.identity()));

    /** The longest rest of a block: the backend can round it up. */
    private static final Duration LONGEST_REST = BlocksKeys.MAX_BLOCK.plusDays(1);

    private static final Pattern STORED_KEY = Pattern.compile("[!-~&&[^{}:]]+");

    private final DataInputStream in;
    private final Allowance allowance;

    private ReportReader(byte[] report, Allowance allowance) {
        this.in = new DataInputStream(new ByteArrayInputStream(report));
        this.allowance = allowance;
    }

    /** The memory that reports can need, as an estimate in bytes. */
    public static final class Allowance {
        private long left;

        public Allowance(long bytes) {
            this.left = bytes;
        }

        private void take(long bytes) throws IOException {
            left -= bytes;
            check(left >= 0);
        }
    }

    /** Reads an element of a list. */
    @FunctionalInterface
    private interface Element<T> {
        T read() throws IOException;
    }

    /** Reads a report; empty if it is no report, one of another form, or one that needs more than is left of the allowance. */
    public static Optional<InstanceReport> read(byte[] report, Allowance allowance) {
        if (report.length > FleetStore.MAX_REPORT_BYTES) {
            return Optional.empty();
        }
        long before = allowance.left;
        try {
            ReportReader reader = new ReportReader(report, allowance);
            check(reader.in.readByte() == ReportWriter.FORM);
            return Optional.of(reader.report());
        } catch (IOException | IllegalArgumentException e) {
            allowance.left = before;
            return Optional.empty();
        }
    }

    private InstanceReport report() throws IOException {
        InstanceReport report = new InstanceReport(
                new InstanceReport.Origin(text(), text(), text(), text(), text(), instant()),
                backend(),
                new InstanceReport.Configuration(in.readLong(), (int) number(), instant(), text(), in.readInt()),
                list(this::rates),
                list(this::values),
                list(this::keys),
                new InstanceReport.Current(list(this::running), blocks()));
        if (in.read() >= 0) {
            throw new EOFException("bytes follow the report");
        }
        return report;
    }

    private BackendHealth.Report backend() throws IOException {
        String name = text();
        BackendHealth.State state = BackendHealth.State.valueOf(text().toUpperCase(Locale.ROOT));
        boolean open = in.readBoolean();
        Duration probeAfter = Duration.ofMillis(count());
        String failure = text();
        return new BackendHealth.Report(
                name,
                state,
                open,
                probeAfter,
                Optional.of(failure).filter(reason -> !reason.isEmpty()),
                count(),
                count(),
                in.readBoolean(),
                (int) number());
    }

    private InstanceReport.PolicyRates rates() throws IOException {
        return new InstanceReport.PolicyRates(
                name(),
                counts(),
                counts(),
                in.readBoolean() ? Optional.of(new Rates.Utilization(share(), share())) : Optional.empty());
    }

    private Map<Outcome, Long> counts() throws IOException {
        Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
        for (int left = in.readUnsignedByte(); left > 0; left--) {
            allowance.take(ELEMENT_BYTES);
            Outcome outcome = OUTCOMES.get(in.readUTF());
            long count = count();
            // Later versions can have more outcomes.
            if (outcome != null) {
                counts.put(outcome, count);
            }
        }
        return counts;
    }

    private InstanceReport.PolicyValues values() throws IOException {
        return new InstanceReport.PolicyValues(name(), list(() -> new InstanceReport.Value(text(), text(), text())));
    }

    private InstanceReport.PolicyKeys keys() throws IOException {
        String policy = name();
        Duration period = Duration.ofMillis(count());
        long otherRejected = count();
        List<TopKeys.Entry> rejected = entries();
        long otherActive = count();
        List<TopKeys.Entry> active = entries();
        InstanceReport.Minute minute = minute(active);
        List<TopKeys.NearLimit> near = shortList(() -> new TopKeys.NearLimit(storedKey(), Duration.ofMillis(count())));
        return new InstanceReport.PolicyKeys(
                policy, new TopKeys(rejected, active, near, period), otherRejected, otherActive, minute);
    }

    private InstanceReport.Minute minute(List<TopKeys.Entry> active) throws IOException {
        Duration period = duration();
        Map<String, Long> calls = new HashMap<>();
        for (TopKeys.Entry entry : active) {
            allowance.take(ELEMENT_BYTES);
            calls.put(entry.key(), count());
        }
        return period.isZero() ? InstanceReport.Minute.NONE : new InstanceReport.Minute(period, calls);
    }

    private List<TopKeys.Entry> entries() throws IOException {
        return shortList(() -> {
            String key = storedKey();
            long min = count();
            long max = count();
            check(min <= max);
            return new TopKeys.Entry(key, min, max, share());
        });
    }

    private InstanceReport.RunningCalls running() throws IOException {
        return new InstanceReport.RunningCalls(name(), count());
    }

    private List<KnownBlocks.Block> blocks() throws IOException {
        List<KnownBlocks.Block> blocks = list(this::block);
        check(blocks.size() <= ReportWriter.MAX_BLOCKS);
        return blocks;
    }

    private KnownBlocks.Block block() throws IOException {
        String policy = name();
        String key = storedKey();
        // A later version can have further causes.
        KnownBlocks.Cause known = CAUSES.getOrDefault(in.readUTF(), KnownBlocks.Cause.UNKNOWN);
        return new KnownBlocks.Block(policy, key, known, rest(), duration(), (int) number(), rest());
    }

    private Duration rest() throws IOException {
        Duration rest = duration();
        check(rest.compareTo(LONGEST_REST) <= 0);
        return rest;
    }

    private Duration duration() throws IOException {
        return Duration.ofMillis(count());
    }

    private <T> List<T> list(Element<T> element) throws IOException {
        return elements(number(), element);
    }

    private <T> List<T> shortList(Element<T> element) throws IOException {
        int length = in.readUnsignedByte();
        check(length <= ReportWriter.MAX_KEYS);
        return elements(length, element);
    }

    /** Reads elements, each of which has at least one byte. */
    private <T> List<T> elements(long length, Element<T> element) throws IOException {
        check(length <= in.available());
        List<T> elements = new ArrayList<>();
        for (long i = 0; i < length; i++) {
            allowance.take(ELEMENT_BYTES);
            elements.add(element.read());
        }
        return elements;
    }

    private String text() throws IOException {
        return text(ReportWriter.MAX_TEXT);
    }

    private String name() throws IOException {
        String name = text(ReportWriter.MAX_NAME);
        check(!name.isEmpty());
        return name;
    }

    private String text(int longest) throws IOException {
        String text = in.readUTF();
        check(text.length() <= longest);
        allowance.take(TEXT_BYTES + text.length());
        return text;
    }

    private String storedKey() throws IOException {
        String key = name();
        check(STORED_KEY.matcher(key).matches());
        return key;
    }

    private Instant instant() throws IOException {
        return Instant.ofEpochMilli(count());
    }

    /** Reads a count, which a sum over all instances cannot overflow. */
    private long count() throws IOException {
        long count = in.readLong();
        check(count >= 0 && count <= Long.MAX_VALUE / FleetStore.MAX_INSTANCES / 1_000);
        return count;
    }

    private long number() throws IOException {
        int number = in.readInt();
        check(number >= 0);
        return number;
    }

    private double share() throws IOException {
        double share = in.readDouble();
        check(share >= 0 && share <= 1_000);
        return share;
    }

    private static void check(boolean valid) throws IOException {
        if (!valid) {
            throw new IOException("a value is out of range");
        }
    }
}
