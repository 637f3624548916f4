// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.instance.InstanceName;
import io.weir.ratelimit.core.instance.StartSummary;
import io.weir.ratelimit.core.instance.StartWarnings;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StartReportTest {
    private Map<String, String> environment = Map.of();
    private String source = "application";

    static class Search {
        @RateLimit("api")
        public void find() {}

        @RateLimit(value = "api", cost = 7)
        public void all() {}
    }

    /** The summary and the warnings of a deployment of {@link Search}. */
    private final class Report {
        private final ConfigProperties config;
        private final Settings settings;
        private final PolicySnapshotLoader loader;
        private final PolicySnapshot snapshot;

        private Report(String... lines) {
            Map<String, String> properties = new HashMap<>(Map.of("ratelimit.policies.api.limit", "100/1m, 1000/1h"));
            for (String line : lines) {
                properties.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
            }
            config = new MicroProfileProperties(new SmallRyeConfigBuilder()
                    .addDefaultInterceptors()
                    .withSources(new PropertiesConfigSource(properties, source, 100))
                    .withSources(new EnvConfigSource(environment, 300))
                    .build());
            Problems problems = new Problems();
            settings = Settings.read(config, problems);
            loader = new PolicySnapshotLoader(
                    new AnnotationScanner(MethodNames.of(Set.of(Search.class)), problems).scan(Set.of(Search.class)),
                    new AnnotationScanner(MethodNames.of(Set.of(Search.class)), new Problems()),
                    new Resolvers(new KeyTerms(32, 64), Map.of()),
                    Set.of("sourced"));
            snapshot = loader.load(config, problems);
            assertThat(problems.found()).isEmpty();
        }

        private List<String> lines(String backend) {
            return new StartSummary(settings, snapshot, loader.methods())
                    .message(backend, config, Set.of())
                    .text()
                    .lines()
                    .toList();
        }

        private List<String> warnings(String backend, String... policiesOfSources) {
            return warnings(backend, false, policiesOfSources);
        }

        private List<String> warnings(String backend, boolean learnsInstances, String... policiesOfSources) {
            return new StartWarnings(settings, config, snapshot)
                    .all(backend, learnsInstances, loader.warnings(snapshot), Set.of(policiesOfSources)).stream()
                            .map(MessageCatalog.Message::text)
                            .toList();
        }
    }

    @Test
    void warnsOfAPenaltyThatAWaitingClientCanReach() {
        assertThat(new Report(
                                "ratelimit.policies.api.limit=100/1m",
                                "ratelimit.policies.api.penalty.after=20/1m",
                                "ratelimit.policies.api.penalty.for=15m")
                        .warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-025 A client of policy api ")
                .contains("can have 61 rejections within the time of penalty.after=20/1m");
        assertThat(new Report(
                                "ratelimit.policies.api.limit=100/1m",
                                "ratelimit.policies.api.penalty.after=100/1m",
                                "ratelimit.policies.api.penalty.for=15m")
                        .warnings("local"))
                .isEmpty();
    }

    @Test
    void warnsOfAPenaltyForAllCallersAtOnce() {
        String[] penalty = {
            "ratelimit.policies.api.limit=100/1m",
            "ratelimit.policies.api.penalty.after=100/1m",
            "ratelimit.policies.api.penalty.for=15m",
            "ratelimit.policies.api.key=global"
        };
        assertThat(new Report(penalty).warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-025 The penalty of policy api blocks all callers, because the key is global."
                        + " After 100 rejections");
        penalty[3] = "ratelimit.policies.api.key=header:X-Tenant | global";
        assertThat(new Report(penalty).warnings("local")).isEmpty();
    }

    @Test
    void warnsOfAPropertyOfTheConsoleWithoutTheConsole() {
        assertThat(new Report("ratelimit.console.role=operator").warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-015 ratelimit.console.role has no effect unless ratelimit.console.enabled ");
        assertThat(new Report("ratelimit.console.role=operator", "ratelimit.console.enabled=false").warnings("local"))
                .isEmpty();
    }

    @Test
    void warnsOfTheRoleOfChangesThatAreNotEnabled() {
        assertThat(new Report("ratelimit.changes.role=changer").warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-015 ratelimit.changes.role has no effect unless ratelimit.changes.enabled ");
    }

    @Test
    void showsTheEndOfThePeriodOfACalendarLimit() {
        Report report = new Report(
                "ratelimit.policies.api.limit=10/1s, 3000/month", "ratelimit.policies.api.zone=Europe/Berlin");
        String text = new StartSummary(
                        report.settings,
                        report.snapshot,
                        report.loader.methods(),
                        () -> Instant.parse("2026-11-24T12:00:00Z"))
                .message("local", report.config, Set.of())
                .text();

        assertThat(text)
                .contains("policy api: 10/1s sliding-window, 3000/month Europe/Berlin"
                        + " (resets on 1 December 00:00 Europe/Berlin); key");
    }

    @Test
    void theSummaryListsTheBackendTheSettingsAndThePolicies() {
        Report report = new Report(
                "ratelimit.trusted-proxies=10.0.0.0/8, ::1",
                "ratelimit.bypass.roles=admin",
                "ratelimit.policies.plan.limit=60/1m",
                "ratelimit.policies.plan.algorithm=token-bucket",
                "ratelimit.policies.plan.burst=90",
                "ratelimit.policies.plan.max-wait=2s",
                "ratelimit.policies.plan.key=ip + header:X-Key",
                "ratelimit.policies.plan.tier=header:X-Plan",
                "ratelimit.policies.plan.tiers.premium.limit=600/1m",
                "ratelimit.policies.plan.tiers.basic.limit=6/1m",
                "ratelimit.policies.plan.mode=shadow",
                "ratelimit.policies.plan.on-failure=closed",
                "ratelimit.policies.plan.count=failure",
                "ratelimit.policies.plan.disclosure=minimal",
                "ratelimit.policies.plan.paths=/api/*, /plans/{id}",
                "ratelimit.policies.plan.methods=POST, GET",
                "ratelimit.policies.plan.costs./api/export=9",
                "ratelimit.policies.rest.limit=1/1s",
                "ratelimit.policies.rest.paths=default",
                "ratelimit.policies.mail.limit=50/1s",
                "ratelimit.policies.mail.lease=25",
                "ratelimit.policies.mail.notify-at=80%, 100%",
                "ratelimit.policies.mail.penalty.after=20/1m",
                "ratelimit.policies.mail.penalty.for=15m");
        assertThat(report.lines("local"))
                .containsExactly(
                        "WEIR-001 Rate limits are enabled. Backend: local (auto: no Redis is configured). Instance: "
                                + InstanceName.own() + ".",
                        "  headers: draft-11, legacy; trusted proxies: 10.0.0.0/8, ::1/128; bypass: 0 tokens, addresses [],"
                                + " roles [admin]; reload interval: 5s; instances: auto",
                        "  policy api: 100/1m sliding-window, 1000/1h sliding-window; key principal | ip; 2 methods",
                        "  policy mail: 50/1s sliding-window; key principal | ip; lease 25; notify-at 80%, 100%;"
                                + " penalty 20/1m for 15m, factor 2, max 1d; no method and no path",
                        "  policy plan: 60/1m token-bucket burst 90 max-wait 2s; tiers by header:X-Plan (basic 6/1m token-bucket"
                                + " max-wait 2s, premium 600/1m token-bucket max-wait 2s); key ip + header:x-key; mode shadow;"
                                + " on-failure closed; count failure; disclosure minimal; paths /api/*, /plans/{id}, /api/export"
                                + " at cost 9, GET POST",
                        "  policy rest: 1/1s sliding-window; key principal | ip; where no other policy applies");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "ratelimit.redis.address=redis://u:secret@h:1 > redisson > auto: ratelimit.redis.address is set",
                "ratelimit.redis.config=/etc/redisson.yaml    > redisson > auto: ratelimit.redis.config is set",
                "ratelimit.headers=none                       > redisson > auto: the application has a RedissonClient",
                "ratelimit.backend=redisson                   > redisson > ratelimit.backend=redisson",
                "ratelimit.headers=none                       > mine     > auto: the backend is configured",
            })
    void theSummaryHasTheReasonForTheBackend(String line, String backend, String reason) {
        assertThat(new Report(line).lines(backend))
                .first()
                .isEqualTo("WEIR-001 Rate limits are enabled. Backend: " + backend + " (" + reason + "). Instance: "
                        + InstanceName.own() + ".");
        assertThat(String.join("\n", new Report(line).lines(backend))).doesNotContain("secret");
    }

    @Test
    void theSummaryIsBounded() {
        String[] many = IntStream.range(0, 60)
                .mapToObj(i -> "ratelimit.policies.p" + i + ".limit=1/1s")
                .toArray(String[]::new);
        assertThat(new Report(many).lines("local"))
                .hasSize(2 + StartSummary.MAX_POLICIES + 1)
                .endsWith("  and 11 more policies");
    }

    @Test
    void reportsDisabledLimitsAndADisabledReload() {
        assertThat(new Report("ratelimit.enabled=false").lines("none"))
                .containsExactly("WEIR-001 Rate limits are disabled. Every call is allowed and nothing is counted.");
        assertThat(new Report("ratelimit.reload-interval=0s", "ratelimit.headers=none", "ratelimit.instances=6")
                        .lines("local")
                        .get(1))
                .isEqualTo("  headers: none; trusted proxies: none; bypass: none; reload interval: none; instances: 6");
    }

    @Test
    void doesNotWarnOfAUsualDeployment() {
        assertThat(new Report().warnings("local", "api")).isEmpty();
        assertThat(new Report("ratelimit.namespace=default").warnings("redisson"))
                .isEmpty();
        assertThat(new Report("ratelimit.policies.api.key=header:X-Key", "ratelimit.key-secret=0123456789abcdef")
                        .warnings("local"))
                .isEmpty();
        environment = Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1");
        assertThat(new Report("ratelimit.instances=1").warnings("local")).isEmpty();
        assertThat(new Report("ratelimit.namespace=shop").warnings("redisson")).isEmpty();
    }

    @Test
    void warnsOfTheLocalBackendOnSeveralInstances() {
        assertThat(new Report("ratelimit.instances=3").warnings("local"))
                .containsExactly(
                        "WEIR-005 Limits are counted in process by each of 3 instances, so together they allow 3 times"
                                + " each limit. Configure a Redis.");
        environment = Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1");
        for (Report report : List.of(new Report(), new Report("ratelimit.instances=auto"))) {
            assertThat(report.warnings("local"))
                    .singleElement()
                    .asString()
                    .startsWith(
                            "WEIR-005 Limits are counted in process, and the application seems to run on Kubernetes.");
        }
    }

    @Test
    void warnsOfARedisWithoutANamespace() {
        assertThat(new Report().warnings("redisson"))
                .singleElement()
                .asString()
                .startsWith("WEIR-006 ratelimit.namespace is not set.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/0", "::/0"})
    void warnsIfAllAddressesAreTrusted(String everyone) {
        assertThat(new Report("ratelimit.trusted-proxies=10.0.0.0/8, " + everyone).warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-007 ratelimit.trusted-proxies contains ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/0", "::/0"})
    void warnsIfAllAddressesBypass(String everyone) {
        assertThat(new Report("ratelimit.bypass.addresses=10.0.0.0/8, " + everyone).warnings("local"))
                .containsExactly("WEIR-007 ratelimit.bypass.addresses contains " + everyone
                        + ", so no client is limited. List only the addresses that bypass the limits.");
    }

    @Test
    void warnsOfHeaderKeysWithoutASecret() {
        String[] headers = {"ratelimit.namespace=shop", "ratelimit.policies.api.key=principal | header:X-Key"};
        assertThat(new Report(headers).warnings("redisson"))
                .singleElement()
                .asString()
                .startsWith("WEIR-008 Policies [api] use header values as keys");
        assertThat(new Report(headers).warnings("local"))
                .as("nothing is stored outside the process")
                .isEmpty();
    }

    @Test
    void warnsOfACallThatIsAlwaysRejected() {
        assertThat(new Report("ratelimit.policies.api.limit=6/1m, 1000/1h", "ratelimit.policies.api.mode=shadow")
                        .warnings("local"))
                .containsExactly(
                        "WEIR-009 Policy api[6/1m sliding-window, 1000/1h sliding-window] has a capacity of 6 permits, but a"
                                + " call costs up to 7. Such a call is always rejected. Reduce the cost, or raise the limit.");
        assertThat(new Report("ratelimit.policies.api.limit=6/1m", "ratelimit.costs.\"Search.all\"=6")
                        .warnings("local"))
                .isEmpty();
        assertThat(new Report("ratelimit.policies.api.limit=0/1m").warnings("local"))
                .as("a limit of zero blocks on purpose")
                .isEmpty();
        assertThat(new Report(
                                "ratelimit.policies.api.tier=header:X-Plan",
                                "ratelimit.policies.api.tiers.free.limit=5/1m",
                                "ratelimit.policies.path.limit=5/1m",
                                "ratelimit.policies.path.mode=shadow",
                                "ratelimit.policies.path.costs./x=6",
                                "ratelimit.policies.sourced.limit=5/1m",
                                "ratelimit.policies.sourced.costs./x=6")
                        .warnings("local").stream().map(line -> line.substring(0, line.indexOf('['))))
                .containsExactly("WEIR-009 Policy api/free", "WEIR-009 Policy path", "WEIR-009 Policy sourced");
    }

    @Test
    void warnsOfTheFailureModeLocalWithoutInstances() {
        String[] local = {"ratelimit.namespace=shop", "ratelimit.policies.api.on-failure=local"};
        for (Report report : List.of(new Report(local), new Report(local[0], local[1], "ratelimit.instances=auto"))) {
            assertThat(report.warnings("mine"))
                    .containsExactly(
                            "WEIR-010 Policies [api] have on-failure=local, but backend mine does not learn the"
                                    + " number of instances. While the backend is unavailable, each instance allows the full"
                                    + " limit. Set ratelimit.instances to the number of instances.");
            assertThat(report.warnings("redisson", true)).isEmpty();
        }
        assertThat(new Report(local[0], local[1], "ratelimit.instances=1").warnings("redisson"))
                .as("an explicit value causes no warning")
                .isEmpty();
        assertThat(new Report(local[0], local[1], "ratelimit.instances=2").warnings("redisson"))
                .isEmpty();
        assertThat(new Report(local).warnings("local")).isEmpty();
        assertThat(new Report(local[0], local[1], "ratelimit.policies.api.mode=shadow").warnings("redisson"))
                .isEmpty();
    }

    @Test
    @Tag("field")
    void warnsOfALongLimitInProcess() {
        for (String limit : List.of("1000/month", "10/1s, 5/day", "1/7d")) {
            assertThat(new Report("ratelimit.policies.plan.limit=" + limit).warnings("local"))
                    .as(limit)
                    .containsExactly(
                            "WEIR-020 Policies [plan] have limits of a day or longer, and backend local counts them in"
                                    + " process. A restart returns all permits. Configure a Redis.");
        }
        String plan = "ratelimit.policies.plan.limit=1000/month";
        assertThat(new Report(plan, "ratelimit.namespace=shop").warnings("redisson"))
                .isEmpty();
        assertThat(new Report(plan, "ratelimit.policies.plan.mode=off").warnings("local"))
                .isEmpty();
        assertThat(new Report(plan, "ratelimit.redis.address=redis://a:6379").warnings("local"))
                .as("a test counts in process")
                .isEmpty();
        assertThat(new Report("ratelimit.policies.plan.limit=1000/23h", "ratelimit.policies.plan.concurrency=2")
                        .warnings("local"))
                .isEmpty();
    }

    @Test
    @Tag("field")
    void warnsOfNamesThatYamlReadsAsAnotherWord() {
        assertThat(new Report(
                                "ratelimit.policies.true.limit=1/1m",
                                "ratelimit.policies.\"false\".limit=1/1m",
                                "ratelimit.policies.true.burst=2",
                                "ratelimit.policies.true.algorithm=token-bucket",
                                "ratelimit.policies.nothing.limit=1/1m")
                        .warnings("local"))
                .hasSize(2)
                .allMatch(warning -> warning.startsWith("WEIR-021 ratelimit.policies."))
                .anyMatch(warning -> warning.contains("the name true can be a mistake"));
        String tier = "ratelimit.policies.api.tiers.true.limit=50/1m";
        assertThat(new Report(tier, "ratelimit.policies.api.tier=header:X-Premium").warnings("local"))
                .as("the value of a claim can be true")
                .isEmpty();
        source = "application.yaml";
        assertThat(new Report(tier, "ratelimit.policies.api.tier=header:X-Premium").warnings("local"))
                .singleElement()
                .asString()
                .startsWith("WEIR-021 ratelimit.policies.api.tiers.true: ");
    }

    @Test
    void warnsOfAnEnforcedShareWithoutEffect() {
        String share = "ratelimit.policies.api.enforce-percent=10";
        assertThat(new Report(share).warnings("local"))
                .containsExactly(
                        "WEIR-015 ratelimit.policies.api.enforce-percent has no effect unless ratelimit.policies.api.mode has a value such as shadow. Set that as well, or remove"
                                + " ratelimit.policies.api.enforce-percent.");
        assertThat(new Report(share, "ratelimit.policies.api.mode=off").warnings("local"))
                .singleElement()
                .asString()
                .contains("enforce-percent");
        assertThat(new Report(share, "ratelimit.policies.api.mode=shadow").warnings("local"))
                .isEmpty();
    }

    @Test
    void warnsOfTheFailureModeSampleWithOneInstance() {
        String[] sample = {"ratelimit.namespace=shop", "ratelimit.policies.api.on-failure=sample"};
        for (Report report : List.of(new Report(sample), new Report(sample[0], sample[1], "ratelimit.instances=1"))) {
            assertThat(report.warnings("redisson"))
                    .containsExactly(
                            "WEIR-011 Policies [api] have on-failure=sample, but the number of instances is 1. While the"
                                    + " backend is unavailable, they allow every call. Set ratelimit.instances to the number of"
                                    + " instances, or use another mode.");
        }
        assertThat(new Report(sample).warnings("redisson", true)).isEmpty();
        assertThat(new Report(sample[0], sample[1], "ratelimit.instances=2").warnings("redisson"))
                .isEmpty();
    }

    @Test
    void warnsOfASourceForAnUnknownPolicy() {
        assertThat(new Report().warnings("local", "apu", "api"))
                .singleElement()
                .asString()
                .startsWith(
                        "WEIR-315 A PolicySource has limits for policy apu, which does not exist. Existing policies: [api].");
    }

    @Test
    void doesNotWarnWhileLimitsAreOff() {
        assertThat(new Report("ratelimit.enabled=false", "ratelimit.instances=3").warnings("local", "apu"))
                .isEmpty();
    }

    @Test
    void noWarningHasALineBreak() {
        assertThat(Stream.of(new Report("ratelimit.instances=3").warnings("local", "a\nb"))
                        .flatMap(List::stream))
                .allMatch(line -> line.lines().count() == 1);
    }
}
