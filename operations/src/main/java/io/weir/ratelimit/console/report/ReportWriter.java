// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.metrics.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A writer of reports. Each list has a share of the bytes of a report, and ends before the first element for which it has no room. {@link
 * ReportReader} reads the same form.
 */
public final class ReportWriter {
    /** The form of reports. A reader ignores other forms. */
    public static final int FORM = 1;

    /** The greatest number of characters of a text. Longer texts are cut. */
    public static final int MAX_TEXT = 200;

    /** The greatest number of keys in a list. */
    public static final int MAX_KEYS = 20;

    /** The greatest number of blocks, including those that were ended. */
    public static final int MAX_BLOCKS = 50;

    private static final int RATES_BYTES = 12_000;
    private static final int VALUES_BYTES = 20_000;
    private static final int KEYS_BYTES = 19_000;
    private static final int RUNNING_BYTES = 3_000;
    private static final int BLOCKS_BYTES = 6_000;

    /** The longest name of a policy and the longest stored key in a report, in characters. */
    static final int MAX_NAME = 300;

    private ReportWriter() {}

    /** Writes a part of a report. */
    @FunctionalInterface
    private interface Part<T> {
        void write(T value, DataOutputStream out) throws IOException;
    }

    /** Returns the bytes of a report, at most {@link io.weir.ratelimit.core.operations.FleetStore#MAX_REPORT_BYTES}. */
    public static byte[] write(InstanceReport report) {
        return bytes(report, (value, out) -> {
            out.writeByte(FORM);
            writeOrigin(value.origin(), out);
            writeBackend(value.backend(), out);
            writeConfiguration(value.configuration(), out);
            writeList(value.rates(), RATES_BYTES, ReportWriter::writeRates, out);
            writeList(value.values(), VALUES_BYTES, ReportWriter::writeValues, out);
            writeList(value.keys(), KEYS_BYTES, ReportWriter::writeKeys, out);
            InstanceReport.Current current = value.current();
            writeList(current.running(), RUNNING_BYTES, ReportWriter::writeRunning, out);
            writeList(current.blocks(), BLOCKS_BYTES, ReportWriter::writeBlock, out);
        });
    }

    private static <T> byte[] bytes(T value, Part<T> part) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            part.write(value, new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static <T> void writeList(List<T> values, int maxBytes, Part<T> part, DataOutputStream out)
            throws IOException {
        List<byte[]> written = new ArrayList<>();
        int size = 0;
        for (T value : values) {
            byte[] bytes = bytes(value, part);
            size += bytes.length;
            if (size > maxBytes) {
                break;
            }
            written.add(bytes);
        }
        out.writeInt(written.size());
        for (byte[] bytes : written) {
            out.write(bytes);
        }
    }

    private static void writeOrigin(InstanceReport.Origin origin, DataOutputStream out) throws IOException {
        writeText(origin.host(), out);
        writeText(origin.name(), out);
        writeText(origin.version(), out);
        writeText(origin.server(), out);
        writeText(origin.java(), out);
        out.writeLong(origin.started().toEpochMilli());
    }

    private static void writeBackend(BackendHealth.Report backend, DataOutputStream out) throws IOException {
        writeText(backend.backend(), out);
        writeText(backend.state().text(), out);
        out.writeBoolean(backend.breakerOpen());
        out.writeLong(backend.probeAfter().toMillis());
        writeText(backend.lastFailure().orElse(""), out);
        out.writeLong(backend.lastFailureSecondsAgo());
        out.writeLong(backend.degradedDecisions());
        out.writeBoolean(backend.ready());
        out.writeInt(backend.leases());
    }

    private static void writeConfiguration(InstanceReport.Configuration configuration, DataOutputStream out)
            throws IOException {
        out.writeLong(configuration.digest());
        out.writeInt(configuration.policies());
        out.writeLong(configuration.readAt().toEpochMilli());
        writeText(configuration.result(), out);
        out.writeInt(configuration.problems());
    }

    private static void writeRates(InstanceReport.PolicyRates rates, DataOutputStream out) throws IOException {
        out.writeUTF(rates.policy());
        writeCounts(rates.recent(), out);
        writeCounts(rates.minute(), out);
        out.writeBoolean(rates.utilization().isPresent());
        if (rates.utilization().isPresent()) {
            out.writeDouble(rates.utilization().get().mean());
            out.writeDouble(rates.utilization().get().max());
        }
    }

    private static void writeCounts(Map<Outcome, Long> counts, DataOutputStream out) throws IOException {
        out.writeByte(counts.size());
        for (Map.Entry<Outcome, Long> count : counts.entrySet()) {
            out.writeUTF(count.getKey().tag());
            out.writeLong(count.getValue());
        }
    }

    private static void writeValues(InstanceReport.PolicyValues policy, DataOutputStream out) throws IOException {
        out.writeUTF(policy.policy());
        out.writeInt(policy.values().size());
        for (InstanceReport.Value value : policy.values()) {
            writeText(value.attribute(), out);
            writeText(value.value(), out);
            writeText(value.source(), out);
        }
    }

    private static void writeKeys(InstanceReport.PolicyKeys keys, DataOutputStream out) throws IOException {
        out.writeUTF(keys.policy());
        out.writeLong(keys.top().period().toMillis());
        writeEntries(keys.top().rejected(), keys.otherRejected(), out);
        writeEntries(keys.top().active(), keys.otherActive(), out);
        out.writeLong(keys.minute().period().toMillis());
        for (TopKeys.Entry entry : keys.top().active()) {
            out.writeLong(keys.minute().calls().getOrDefault(entry.key(), 0L));
        }
        out.writeByte(keys.top().nearLimit().size());
        for (TopKeys.NearLimit near : keys.top().nearLimit()) {
            out.writeUTF(near.key());
            out.writeLong(near.duration().toMillis());
        }
    }

    private static void writeEntries(List<TopKeys.Entry> entries, long others, DataOutputStream out)
            throws IOException {
        out.writeLong(others);
        out.writeByte(entries.size());
        for (TopKeys.Entry entry : entries) {
            out.writeUTF(entry.key());
            out.writeLong(entry.minCount());
            out.writeLong(entry.maxCount());
            out.writeDouble(entry.utilization());
        }
    }

    private static void writeRunning(InstanceReport.RunningCalls running, DataOutputStream out) throws IOException {
        out.writeUTF(running.policy());
        out.writeLong(running.calls());
    }

    private static void writeBlock(KnownBlocks.Block block, DataOutputStream out) throws IOException {
        out.writeUTF(block.policy());
        out.writeUTF(block.storedKey());
        out.writeUTF(block.cause().name());
        out.writeLong(block.rest().toMillis());
        out.writeLong(block.seen().toMillis());
        out.writeInt(block.penalty());
        out.writeLong(block.length().toMillis());
    }

    private static void writeText(String text, DataOutputStream out) throws IOException {
        out.writeUTF(text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT - 1) + "…");
    }
}
