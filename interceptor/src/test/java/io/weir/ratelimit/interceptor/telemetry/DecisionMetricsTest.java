// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static io.weir.ratelimit.fixtures.Events.ADDRESS;
import static io.weir.ratelimit.fixtures.Events.API;
import static io.weir.ratelimit.fixtures.Events.LOGIN;
import static io.weir.ratelimit.fixtures.Events.USER;
import static io.weir.ratelimit.fixtures.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.metrics.BackendMetrics;
import io.weir.ratelimit.core.metrics.DecisionMetrics;
import io.weir.ratelimit.core.metrics.Meters;
import io.weir.ratelimit.core.metrics.SampledMeters;
import io.weir.ratelimit.core.metrics.Sampling;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The metrics of decisions, which are equal for all metrics APIs. */
class DecisionMetricsTest {
    private static final String TIME = "ratelimit.check.duration{backend=redisson, result=%s}";
    private static final String COUNT =
            "ratelimit.decisions{direction=incoming, endpoint=Search.find, outcome=%s, policy=%s, tier=none}";
    private static final String SPENT = "ratelimit.utilization{policy=%s, tier=none}";

    private final Charge api = charge(API, ADDRESS, 1);
    private final Charge login = charge(LOGIN, USER, 2);

    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    private static void record(SeriesReader reader, DecisionEvent... events) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "redisson");
        for (DecisionEvent event : events) {
            metrics.onDecision(event);
        }
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsOutgoingCallsByTheirClient(SeriesReader reader) {
        DecisionEvent allowed = Events.allowed(List.of(api), 9, 999);
        record(
                reader,
                new DecisionEvent("client:partner", allowed.charges(), allowed.decision(), allowed.durationNanos()));
        assertThat(reader.counts())
                .containsOnlyKeys("ratelimit.decisions{direction=outgoing, endpoint=client:partner, outcome=allowed,"
                        + " policy=api, tier=none}");
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsDecisionsByOutcome(SeriesReader reader) {
        record(
                reader,
                Events.allowed(List.of(api), 9, 999),
                Events.allowed(List.of(api), 8, 998),
                Events.rejected(List.of(api), 0, 997),
                Events.degraded(List.of(api), FailureMode.OPEN),
                Events.degraded(List.of(api), FailureMode.CLOSED));
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "api"), 2L),
                        entry(COUNT.formatted("rejected", "api"), 1L),
                        entry(COUNT.formatted("degraded_allowed", "api"), 1L),
                        entry(COUNT.formatted("degraded_rejected", "api"), 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsRejectionsOfABlockedKeySeparately(SeriesReader reader) {
        Quota blocked = TestQuota.of("api", "api", 10, 10, Duration.ofMinutes(1), 0, true, 7, 7, 7, null, 7);
        record(
                reader,
                new DecisionEvent(
                        "HelloResource.hello", List.of(api), new Decision.Rejected(Results.of(blocked, blocked)), 0),
                new DecisionEvent(
                        "HelloResource.hello",
                        List.of(api.asShadow()),
                        new Decision.Allowed(
                                List.of(new ChargeResult("api", true, List.of(blocked, blocked))), Receipt.EMPTY),
                        0));
        assertThat(reader.counts().keySet())
                .hasSize(2)
                .anyMatch(series -> series.contains("outcome=blocked"))
                .anyMatch(series -> series.contains("outcome=shadow_rejected"));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsSettledChargesByPolicy(SeriesReader reader) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "redisson");
        metrics.onSettle(List.of(api, login), 7);
        metrics.onSettle(List.of(api), 0);
        assertThat(reader.counts())
                .containsOnly(entry("ratelimit.settled{policy=api}", 2L), entry("ratelimit.settled{policy=login}", 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsEachPolicyOfADecisionAndOnlyThePolicyThatRejectsAsRejected(SeriesReader reader) {
        record(
                reader,
                Events.allowed(List.of(api, login), 9, 999, 98),
                Events.rejected(List.of(api, login), 9, 0, 98),
                Events.rejected(List.of(api, login), 9, 998, 0),
                Events.rejected(List.of(api, login), 0, 0, 0),
                Events.degraded(List.of(api, login), FailureMode.CLOSED));
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "api"), 1L),
                        entry(COUNT.formatted("allowed", "login"), 1L),
                        entry(COUNT.formatted("rejected", "api"), 2L),
                        entry(COUNT.formatted("not_charged", "api"), 1L),
                        entry(COUNT.formatted("rejected", "login"), 2L),
                        entry(COUNT.formatted("not_charged", "login"), 1L),
                        entry(COUNT.formatted("degraded_rejected", "api"), 1L),
                        entry(COUNT.formatted("degraded_rejected", "login"), 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void measuresTheTimeOfEachDecisionInSeconds(SeriesReader reader) {
        record(
                reader,
                Events.allowed(List.of(api, login), 9, 999, 98),
                Events.allowed(List.of(api), 9, 999),
                Events.rejected(List.of(api), 0, 997),
                Events.degraded(List.of(api), FailureMode.OPEN));
        assertThat(reader.times())
                .containsOnly(
                        entry(TIME.formatted("allowed"), List.of(2.0, 0.006)),
                        entry(TIME.formatted("rejected"), List.of(1.0, 0.003)),
                        entry(TIME.formatted("error"), List.of(1.0, 0.003)));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void recordsTheUtilizationOfTheFullestLimitOfEachPolicy(SeriesReader reader) {
        PolicyLimits blocked =
                new PolicyLimits("blocked", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 0, Duration.ofMinutes(1))));
        PolicyLimits bucket =
                new PolicyLimits("bucket", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 20)));
        record(
                reader,
                Events.allowed(List.of(api, login), 9, 100, 75),
                Events.rejected(List.of(charge(blocked, USER, 1)), 0),
                Events.allowed(List.of(charge(bucket, USER, 1)), 15),
                Events.degraded(List.of(login), FailureMode.OPEN));
        assertThat(reader.ratios())
                .containsOnly(
                        entry(SPENT.formatted("api"), List.of(1.0, 0.9)),
                        entry(SPENT.formatted("login"), List.of(1.0, 0.25)),
                        entry(SPENT.formatted("blocked"), List.of(1.0, 1.0)),
                        entry(SPENT.formatted("bucket"), List.of(1.0, 0.25)));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void aBlockIsNoUtilization(SeriesReader reader) {
        LocalBackend backend = new LocalBackend(10, () -> 1);
        List<Charge> charges = List.of(api);
        DecisionEvent allowed = new DecisionEvent("Search.find", charges, backend.acquire(charges), 1);
        backend.block(api.policy(), api.storedKey(), Duration.ofHours(1))
                .toCompletableFuture()
                .join();
        record(reader, allowed, new DecisionEvent("Search.find", charges, backend.acquire(charges), 1));
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "api"), 1L), entry(COUNT.formatted("blocked", "api"), 1L));
        assertThat(reader.ratios().get(SPENT.formatted("api")).get(0)).isEqualTo(1.0);
    }

    @ParameterizedTest
    @MethodSource("apis")
    void anAllowedCallOfOneLimitIsCountedLikeOthers(SeriesReader reader) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "local");
        PolicyLimits limits =
                new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));
        Charge charge = new Charge(limits, "p.ann", 1);
        Decision decision =
                new Decision.Allowed(new ChargedResults(charge, new FixedWindowState(0, 9), 0), Receipt.EMPTY);
        metrics.onDecision(new DecisionEvent("Search.find", List.of(charge), decision, 2_000_000));
        assertThat(reader.counts()).containsOnly(entry(COUNT.formatted("allowed", "api"), 1L));
        assertThat(reader.ratios()).containsOnly(entry(SPENT.formatted("api"), List.of(1.0, 0.9)));
        assertThat(reader.times())
                .contains(entry("ratelimit.check.duration{backend=local, result=allowed}", List.of(1.0, 0.002)));
    }

    private static void decide(DecisionMetrics metrics, String endpoint, Decision decision, Charge charge) {
        metrics.onDecision(new DecisionEvent(endpoint, List.of(charge), decision, 1_000_000));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void ofManyDecisionsInProcessAllAreCountedAndAPartIsMeasured(SeriesReader reader) {
        AtomicInteger random = new AtomicInteger();
        Meters meters = new SampledMeters(
                reader.meters(),
                () -> new Sampling(() -> 0, bound -> random.getAndIncrement() / 2 % bound)); // two values per decision
        DecisionMetrics metrics = new DecisionMetrics(meters, "local");
        DecisionEvent allowed = Events.allowed(List.of(login), 25);
        DecisionEvent rejected = Events.rejected(List.of(login), 0);
        int each = 10 * Sampling.MANY;
        for (int i = 0; i < each; i++) {
            decide(metrics, "Search.find", allowed.decision(), login);
            decide(metrics, "Search.list", rejected.decision(), login);
        }
        assertThat(reader.counts().values()).containsExactly((long) each, (long) each);
        double measured = Sampling.MANY + (2.0 * each - Sampling.MANY) / Sampling.PART;
        assertThat(reader.times().values().stream()
                        .mapToDouble(time -> time.get(0))
                        .sum())
                .isEqualTo(Math.ceil(measured));
        assertThat(reader.ratios().get(SPENT.formatted("login")).get(0)).isEqualTo(Math.ceil(measured));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void eachDecisionOfASharedBackendIsMeasured(SeriesReader reader) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "redisson");
        double all = 5 * Sampling.MANY;
        for (int i = 0; i < all; i++) {
            decide(metrics, "Search.find", Events.allowed(List.of(login), 25).decision(), login);
        }
        assertThat(reader.times().get(TIME.formatted("allowed"))).startsWith(all);
        assertThat(reader.ratios().get(SPENT.formatted("login"))).startsWith(all);
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsErrorsOfTheBackendByReason(SeriesReader reader) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "redisson");
        metrics.onError(new BackendException(Reason.TIMEOUT, "late", null));
        metrics.onError(new BackendException(Reason.TIMEOUT, "late again", null));
        metrics.onError(new BackendException(Reason.FOREIGN_STATE, "foreign", null));
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.backend.errors{type=timeout}", 2L),
                        entry("ratelimit.backend.errors{type=foreign-state}", 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void measuresBatchesByTheirRequestsAndTheQueueByItsKeys(SeriesReader reader) {
        BackendMetrics metrics = new BackendMetrics(reader.meters());
        metrics.onBatch(1, 0);
        metrics.onBatch(64, 300);
        metrics.onBatch(17, 12);
        assertThat(reader.sizes()).containsOnly(entry("ratelimit.batch.size{}", List.of(3.0, 82.0)));
        assertThat(reader.gauges())
                .containsOnly(
                        entry("ratelimit.queue.size{}", 12L),
                        entry("ratelimit.breaker.open{}", 0L),
                        entry("ratelimit.leases{}", 0L));
        metrics.onBatch(12, 0);
        assertThat(reader.gauges())
                .containsOnly(
                        entry("ratelimit.queue.size{}", 0L),
                        entry("ratelimit.breaker.open{}", 0L),
                        entry("ratelimit.leases{}", 0L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void measuresTheTimeOfReplies(SeriesReader reader) {
        BackendMetrics metrics = new BackendMetrics(reader.meters());
        metrics.onBatch(1, 0);
        metrics.onReply(2_000_000);
        metrics.onReply(500_000);
        assertThat(reader.times()).contains(entry("ratelimit.batch.duration{}", List.of(2.0, 0.0025)));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void gaugesOfTheBreakerAndOfLeasesExistFromTheStart(SeriesReader reader) {
        BackendMetrics metrics = new BackendMetrics(reader.meters());
        assertThat(reader.gauges()).contains(entry("ratelimit.breaker.open{}", 0L), entry("ratelimit.leases{}", 0L));
        metrics.onBreakerChange(true);
        metrics.onLeaseCount(7);
        assertThat(reader.gauges()).contains(entry("ratelimit.breaker.open{}", 1L), entry("ratelimit.leases{}", 7L));
        metrics.onBreakerChange(false);
        metrics.onLeaseCount(3);
        assertThat(reader.gauges()).contains(entry("ratelimit.breaker.open{}", 0L), entry("ratelimit.leases{}", 3L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void manyKeysShareOneSeries(SeriesReader reader) {
        DecisionMetrics metrics = new DecisionMetrics(reader.meters(), "redisson");
        for (int i = 0; i < 1_000; i++) {
            metrics.onDecision(Events.allowed(List.of(charge(LOGIN, "p.user" + i, 1)), 9));
        }
        assertThat(reader.counts()).containsOnly(entry(COUNT.formatted("allowed", "login"), 1_000L));
        assertThat(reader.everything()).noneMatch(text -> text.contains("user"));
    }

    @Test
    void bothApisHaveTheSameBucketsFromOneMillisecond() throws Exception {
        SeriesReader.OpenTelemetry reader = new SeriesReader.OpenTelemetry();
        record(reader, Events.allowed(List.of(login), 9));
        Properties properties = new Properties();
        try (InputStream in = getClass().getResourceAsStream("/META-INF/microprofile-config.properties")) {
            properties.load(in);
        }
        List<Double> seconds = reader.buckets("ratelimit.check.duration");
        assertThat(seconds).startsWith(0.0001, 0.00025, 0.0005, 0.001);
        String timers = properties.getProperty("mp.metrics.distribution.timer.buckets");
        assertThat(buckets(timers, "ratelimit.check.duration"))
                .containsExactlyElementsOf(seconds.subList(3, seconds.size()));
        assertThat(buckets(timers, "ratelimit.batch.duration"))
                .containsExactlyElementsOf(seconds.subList(3, seconds.size()));
        String histograms = properties.getProperty("mp.metrics.distribution.histogram.buckets");
        assertThat(buckets(histograms, "ratelimit.utilization"))
                .containsExactlyElementsOf(reader.buckets("ratelimit.utilization"));
        new BackendMetrics(reader.meters()).onBatch(1, 0);
        assertThat(buckets(histograms, "ratelimit.batch.size"))
                .containsExactlyElementsOf(reader.buckets("ratelimit.batch.size"))
                .startsWith(1.0, 2.0)
                .endsWith(256.0);
    }

    /** Parses entries such as {@code name=1ms,1s;name=10,20} to seconds, ratios or numbers. */
    private static List<Double> buckets(String property, String metric) {
        assertThat(property.split(";"))
                .filteredOn(text -> text.startsWith(metric + "="))
                .hasSize(1);
        String values = property.substring(property.indexOf(metric + "=") + metric.length() + 1)
                .split(";", -1)[0];
        return Stream.of(values.split(","))
                .map(text -> Integer.parseInt(text.replaceAll("[ms]", "")) / divisor(text, metric))
                .toList();
    }

    private static double divisor(String text, String metric) {
        return text.endsWith("ms") ? 1_000 : text.endsWith("s") || metric.endsWith(".size") ? 1 : 100;
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsAPolicyInShadowModeByItsOwnDecision(SeriesReader reader) {
        List<Charge> charges = List.of(login.asShadow(), api);
        List<Charge> ofLogin = List.of(login);
        List<Charge> ofApi = List.of(api);
        record(
                reader,
                Events.allowed(charges, Events.quotas(ofApi, 9, 999), Events.quotas(ofLogin, 98)),
                Events.allowed(charges, Events.quotas(ofApi, 8, 998), Events.quotas(ofLogin, 0)),
                Events.allowed(charges, Events.quotas(ofApi, 8, 998), Events.quotas(ofLogin, 0)),
                Events.rejected(charges, Events.quotas(ofApi, 0, 997)),
                Events.rejected(charges, Events.quotas(ofApi, 0, 997)));
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "api"), 3L),
                        entry(COUNT.formatted("rejected", "api"), 2L),
                        entry(COUNT.formatted("allowed", "login"), 1L),
                        entry(COUNT.formatted("not_charged", "login"), 2L),
                        entry(COUNT.formatted("shadow_rejected", "login"), 2L));
        assertThat(reader.ratios().get(SPENT.formatted("login"))).startsWith(3.0);
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsAPolicyInShadowModeWithoutQuotasAsDegradedOrNotCharged(SeriesReader reader) {
        List<Charge> charges = List.of(login.asShadow(), api);
        List<Charge> ofApi = List.of(api);
        record(
                reader,
                Events.allowed(charges, Events.quotas(ofApi, 9, 999), List.of()),
                Events.rejected(charges, Events.quotas(ofApi, 0, 997)));
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "api"), 1L),
                        entry(COUNT.formatted("rejected", "api"), 1L),
                        entry(COUNT.formatted("degraded_allowed", "login"), 1L),
                        entry(COUNT.formatted("not_charged", "login"), 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void eachTierHasASeries(SeriesReader reader) {
        PolicyLimits premium = new PolicyLimits("login", "premium", LOGIN.limits());
        record(
                reader,
                Events.allowed(List.of(login), 9),
                Events.allowed(List.of(charge(premium, USER, 2)), 9),
                Events.allowed(List.of(charge(premium, USER, 2)), 8));
        String tiered = COUNT.replace("tier=none", "tier=premium");
        assertThat(reader.counts())
                .containsOnly(
                        entry(COUNT.formatted("allowed", "login"), 1L),
                        entry(tiered.formatted("allowed", "login"), 2L));
        assertThat(reader.ratios()
                        .get(SPENT.replace("tier=none", "tier=premium").formatted("login")))
                .startsWith(2.0);
    }
}
