// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.metrics.Outcome;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.operations.codec.Codec;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
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
 * The codec of reports. Each list has a share of the bytes of a report, and ends before the first element for which it has no room. Those of
 * rates and of top keys then have an element for the others.
 */
public final class ReportCodec {
    /** The form of reports. A reader ignores other forms. */
    public static final int FORM = 1;

    /** The greatest number of characters of a text. Longer texts are cut. */
    public static final int MAX_TEXT = 200;

    /** The greatest number of keys in a list. */
    public static final int MAX_KEYS = 20;

    /** The longest name of a policy and the longest stored key in a report, in characters. */
    static final int MAX_NAME = 300;

    private static final int RATES_BYTES = 11_500;
    private static final int VALUES_BYTES = 20_000;
    private static final int KEYS_BYTES = 18_900;

    /** The greatest count, with which a sum over all instances cannot overflow. */
    private static final long MAX_COUNT = Long.MAX_VALUE / FleetStore.MAX_INSTANCES / 1_000;

    private static final Map<String, Outcome> OUTCOMES =
            Stream.of(Outcome.values()).collect(Collectors.toUnmodifiableMap(Outcome::tag, Function.identity()));
    private static final Pattern STORED_KEY = Pattern.compile("[!-~&&[^{}:]]+");

    static final Codec<Integer> NUMBER = Codec.INT.where(number -> number >= 0);
    static final Codec<Long> COUNT = Codec.LONG.where(count -> count >= 0 && count <= MAX_COUNT);
    private static final Codec<Double> SHARE = Codec.DOUBLE.where(share -> share >= 0 && share <= 1_000);
    private static final Codec<Instant> INSTANT = COUNT.as(Instant::ofEpochMilli, Instant::toEpochMilli);
    static final Codec<Duration> DURATION = COUNT.as(Duration::ofMillis, Duration::toMillis);
    private static final Codec<Integer> SHORT_LENGTH = Codec.BYTE.where(length -> length <= MAX_KEYS);
    private static final Codec<String> TEXT =
            Codec.TEXT.where(text -> text.length() <= MAX_TEXT).as(Function.identity(), ReportCodec::cut);
    static final Codec<String> NAME = Codec.TEXT.where(name -> !name.isEmpty() && name.length() <= MAX_NAME);
    static final Codec<String> KEY = NAME.where(key -> STORED_KEY.matcher(key).matches());

    /** The counts by outcome. A later version can have more outcomes, which are left out. */
    private static final Codec<Map<Outcome, Long>> COUNTS = Codec.<Map.Entry<String, Long>>of(count ->
                    Map.entry(count.next(Codec.TEXT, Map.Entry::getKey), count.next(COUNT, Map.Entry::getValue)))
            .list(Codec.BYTE)
            .as(ReportCodec::byOutcome, ReportCodec::byTag);

    private static final Codec<BackendHealth.State> STATE =
            TEXT.as(state -> BackendHealth.State.valueOf(state.toUpperCase(Locale.ROOT)), BackendHealth.State::text);
    private static final Codec<Optional<String>> FAILURE =
            TEXT.as(text -> Optional.of(text).filter(reason -> !reason.isEmpty()), failure -> failure.orElse(""));

    private static final Codec<InstanceReport.Origin> ORIGIN = Codec.of(origin -> new InstanceReport.Origin(
            origin.next(TEXT, InstanceReport.Origin::host),
            origin.next(TEXT, InstanceReport.Origin::name),
            origin.next(TEXT, InstanceReport.Origin::version),
            origin.next(TEXT, InstanceReport.Origin::server),
            origin.next(TEXT, InstanceReport.Origin::java),
            origin.next(INSTANT, InstanceReport.Origin::started)));

    private static final Codec<BackendHealth.Report> BACKEND = Codec.of(backend -> new BackendHealth.Report(
            backend.next(TEXT, BackendHealth.Report::backend),
            backend.next(STATE, BackendHealth.Report::state),
            backend.next(Codec.BOOLEAN, BackendHealth.Report::breakerOpen),
            backend.next(DURATION, BackendHealth.Report::probeAfter),
            backend.next(FAILURE, BackendHealth.Report::lastFailure),
            backend.next(COUNT, BackendHealth.Report::lastFailureSecondsAgo),
            backend.next(COUNT, BackendHealth.Report::degradedDecisions),
            backend.next(Codec.BOOLEAN, BackendHealth.Report::ready),
            backend.next(NUMBER, BackendHealth.Report::leases)));

    private static final Codec<InstanceReport.Configuration> CONFIGURATION =
            Codec.of(configuration -> new InstanceReport.Configuration(
                    configuration.next(Codec.LONG, InstanceReport.Configuration::digest),
                    configuration.next(NUMBER, InstanceReport.Configuration::policies),
                    configuration.next(INSTANT, InstanceReport.Configuration::readAt),
                    configuration.next(TEXT, InstanceReport.Configuration::result),
                    configuration.next(NUMBER, InstanceReport.Configuration::problems)));

    private static final Codec<Rates.Utilization> UTILIZATION = Codec.of(utilization -> new Rates.Utilization(
            utilization.next(SHARE, Rates.Utilization::mean), utilization.next(SHARE, Rates.Utilization::max)));

    private static final Codec<InstanceReport.PolicyRates> RATES = Codec.of(rates -> new InstanceReport.PolicyRates(
            rates.next(NAME, InstanceReport.PolicyRates::policy),
            rates.next(COUNTS, InstanceReport.PolicyRates::recent),
            rates.next(COUNTS, InstanceReport.PolicyRates::minute),
            rates.next(UTILIZATION.optional(), InstanceReport.PolicyRates::utilization)));

    private static final Codec<InstanceReport.Value> VALUE = Codec.of(value -> new InstanceReport.Value(
            value.next(TEXT, InstanceReport.Value::attribute),
            value.next(TEXT, InstanceReport.Value::value),
            value.next(TEXT, InstanceReport.Value::source)));

    private static final Codec<InstanceReport.PolicyValues> VALUES = Codec.of(values -> new InstanceReport.PolicyValues(
            values.next(NAME, InstanceReport.PolicyValues::policy),
            values.next(VALUE.list(NUMBER), InstanceReport.PolicyValues::values)));

    private static final Codec<List<TopKeys.Entry>> ENTRIES = Codec.<TopKeys.Entry>of(entry -> new TopKeys.Entry(
                    entry.next(KEY, TopKeys.Entry::key),
                    entry.next(COUNT, TopKeys.Entry::minCount),
                    entry.next(COUNT, TopKeys.Entry::maxCount),
                    entry.next(SHARE, TopKeys.Entry::utilization)))
            .where(entry -> entry.minCount() <= entry.maxCount())
            .list(SHORT_LENGTH);

    private static final Codec<List<TopKeys.NearLimit>> NEAR_LIMIT = Codec.<TopKeys.NearLimit>of(
                    near -> new TopKeys.NearLimit(
                            near.next(KEY, TopKeys.NearLimit::key), near.next(DURATION, TopKeys.NearLimit::duration)))
            .list(SHORT_LENGTH);

    private static final Codec<InstanceReport> REPORT = Codec.of(report -> new InstanceReport(
            report.next(ORIGIN, InstanceReport::origin),
            report.next(BACKEND, InstanceReport::backend),
            report.next(CONFIGURATION, InstanceReport::configuration),
            report.next(within(RATES_BYTES, RATES, InstanceReport.PolicyRates::ofOthers), InstanceReport::rates),
            report.next(within(VALUES_BYTES, VALUES), InstanceReport::values),
            report.next(
                    within(KEYS_BYTES, Codec.of(ReportCodec::keys), InstanceReport.PolicyKeys::ofOthers),
                    InstanceReport::keys),
            report.next(Current.CODEC, InstanceReport::current)));

    private ReportCodec() {}

    /** The memory that reports can need, as an estimate in bytes. */
    public static final class Allowance {
        private long left;

        public Allowance(long bytes) {
            this.left = bytes;
        }
    }

    /** Returns the bytes of a report, at most {@link FleetStore#MAX_REPORT_BYTES}. */
    public static byte[] write(InstanceReport report) {
        return REPORT.bytes(FORM, report);
    }

    /** Reads a report; empty if it is no report, one of another form, or one that needs more than is left of the allowance. */
    public static Optional<InstanceReport> read(byte[] report, Allowance allowance) {
        if (report.length > FleetStore.MAX_REPORT_BYTES) {
            return Optional.empty();
        }
        try {
            Codec.Input in = new Codec.Input(report, allowance.left);
            InstanceReport read = REPORT.read(FORM, in);
            allowance.left = in.memory();
            return Optional.of(read);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns a codec of the first elements for which there is room. */
    static <T> Codec<List<T>> within(int maxBytes, Codec<T> element) {
        return within(maxBytes, element, Optional.empty());
    }

    private static <T> Codec<List<T>> within(int maxBytes, Codec<T> element, Function<List<T>, T> ofOthers) {
        return within(maxBytes, element, Optional.of(ofOthers));
    }

    /** Returns a codec of the elements for which there is room, and then one of the others, which has at most 500 further bytes. */
    private static <T> Codec<List<T>> within(int maxBytes, Codec<T> element, Optional<Function<List<T>, T>> ofOthers) {
        return new Codec<>(
                (out, values) -> {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    DataOutputStream elements = new DataOutputStream(bytes);
                    int written = 0;
                    int end = 0;
                    for (T value : values) {
                        element.writer().write(elements, value);
                        if (bytes.size() > maxBytes) {
                            break;
                        }
                        written++;
                        end = bytes.size();
                    }
                    List<T> others = values.subList(written, values.size());
                    Optional<T> last = others.isEmpty() ? Optional.empty() : ofOthers.map(of -> of.apply(others));
                    out.writeInt(written + (last.isPresent() ? 1 : 0));
                    out.write(bytes.toByteArray(), 0, end);
                    if (last.isPresent()) {
                        element.writer().write(out, last.get());
                    }
                },
                element.list(NUMBER).reader());
    }

    private static InstanceReport.PolicyKeys keys(Codec.Fields<InstanceReport.PolicyKeys> fields) throws IOException {
        String policy = fields.next(NAME, InstanceReport.PolicyKeys::policy);
        Duration period = fields.next(DURATION, keys -> keys.top().period());
        long otherRejected = fields.next(COUNT, InstanceReport.PolicyKeys::otherRejected);
        List<TopKeys.Entry> rejected = fields.next(ENTRIES, keys -> keys.top().rejected());
        long otherActive = fields.next(COUNT, InstanceReport.PolicyKeys::otherActive);
        List<TopKeys.Entry> active = fields.next(ENTRIES, keys -> keys.top().active());
        Duration minute = fields.next(DURATION, keys -> keys.minute().period());
        Map<String, Long> calls = new HashMap<>();
        for (TopKeys.Entry entry : active) {
            calls.put(
                    entry.key(),
                    fields.next(COUNT.charged(), keys -> keys.minute().calls().getOrDefault(entry.key(), 0L)));
        }
        List<TopKeys.NearLimit> near =
                fields.next(NEAR_LIMIT, keys -> keys.top().nearLimit());
        return new InstanceReport.PolicyKeys(
                policy,
                new TopKeys(rejected, active, near, period),
                otherRejected,
                otherActive,
                minute.isZero() ? InstanceReport.Minute.NONE : new InstanceReport.Minute(minute, calls));
    }

    private static Map<Outcome, Long> byOutcome(List<Map.Entry<String, Long>> counts) {
        Map<Outcome, Long> byOutcome = new EnumMap<>(Outcome.class);
        for (Map.Entry<String, Long> count : counts) {
            Optional.ofNullable(OUTCOMES.get(count.getKey()))
                    .ifPresent(outcome -> byOutcome.put(outcome, count.getValue()));
        }
        return byOutcome;
    }

    private static List<Map.Entry<String, Long>> byTag(Map<Outcome, Long> counts) {
        return counts.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(count -> Map.entry(count.getKey().tag(), count.getValue()))
                .toList();
    }

    private static String cut(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT - 1) + "…";
    }
}
