// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.hits;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import io.weir.ratelimit.fixtures.LogCapture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The answers of the service: selection of policies, keys, costs, statuses, header fields and bodies. */
@Timeout(120)
class RateLimitServiceTest {
    private static final RateLimitDescriptor ANN = descriptor("policy", "api", "principal", "ann");
    private static final RateLimitDescriptor BOB = descriptor("policy", "api", "principal", "bob");

    /** A descriptor that returns a hit. The classes of the protocol do not have this field yet. */
    private static final RateLimitDescriptor NEGATIVE = hits(1, ANN).toBuilder()
            .setUnknownFields(UnknownFieldSet.newBuilder()
                    .addField(4, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                    .build())
            .build();

    @TempDir
    private Path folder;

    private TestServer server;

    @AfterEach
    void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    private void start(String... namesAndValues) throws Exception {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.put("ratelimit." + namesAndValues[i], namesAndValues[i + 1]);
        }
        server = TestServer.cold(properties);
    }

    private void startApi(String... more) throws Exception {
        String[] all = new String[more.length + 4];
        System.arraycopy(new String[] {"policies.api.limit", "2/1h", "policies.api.key", "principal"}, 0, all, 0, 4);
        System.arraycopy(more, 0, all, 4, more.length);
        start(all);
    }

    private Code code(RateLimitDescriptor... descriptors) {
        return server.call("edge", descriptors).getOverallCode();
    }

    private static List<Code> codes(RateLimitResponse response) {
        return response.getStatusesList().stream()
                .map(DescriptorStatus::getCode)
                .toList();
    }

    private static Map<String, String> headers(RateLimitResponse response) {
        return response.getResponseHeadersToAddList().stream()
                .collect(Collectors.toMap(HeaderValue::getKey, HeaderValue::getValue));
    }

    @Test
    void theEntryPolicyNamesThePolicyAndOtherEntriesItsKey() throws Exception {
        startApi();
        assertThat(code(ANN)).isEqualTo(Code.OK);
        assertThat(code(ANN)).isEqualTo(Code.OK);
        assertThat(code(ANN)).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(BOB)).isEqualTo(Code.OK);
    }

    @Test
    void aGenericKeyNamesAPolicyOfItsName() throws Exception {
        start("policies.login.limit", "1/1h", "policies.login.key", "ip");
        RateLimitDescriptor login = descriptor("generic_key", "login", "remote_address", "203.0.113.7");
        assertThat(code(login)).isEqualTo(Code.OK);
        assertThat(code(login)).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(descriptor("generic_key", "login", "remote_address", "203.0.113.8")))
                .isEqualTo(Code.OK);
    }

    @Test
    void eachKeyTermIsAnEntry() throws Exception {
        Map<String, String[]> terms = Map.of(
                "header:X-Api-Key", new String[] {"header:x-api-key", "header:X-Api-Key"},
                "cookie:c", new String[] {"cookie:c"},
                "query:q", new String[] {"query:q"},
                "path:org", new String[] {"path:org"},
                "claim:plan", new String[] {"claim:plan"},
                "method", new String[] {"method"},
                "tenant", new String[] {"tenant"});
        for (Map.Entry<String, String[]> term : terms.entrySet()) {
            start("policies.p.limit", "1/1h", "policies.p.key", term.getKey());
            for (String entry : term.getValue()) {
                String value = "value-of-" + entry.hashCode();
                assertThat(code(descriptor("policy", "p", entry, value)))
                        .as(entry)
                        .isEqualTo(Code.OK);
                assertThat(code(descriptor("policy", "p", entry, value)))
                        .as(entry)
                        .isEqualTo(Code.OVER_LIMIT);
            }
            stop();
        }
        server = null;
    }

    @Tag("field")
    @Test
    void aDescriptorWithoutTheValueOfItsKeyIsAnonymous() throws Exception {
        start("policies.api.limit", "1/1h", "policies.api.key", "header:X-Api-Key");
        assertThat(code(descriptor("policy", "api"))).isEqualTo(Code.OK);
        assertThat(code(descriptor("policy", "api"))).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(descriptor("policy", "api", "header:X-Api-Key", "k-1"))).isEqualTo(Code.OK);
    }

    @Test
    void aMaskedAddressIsTheAddress() throws Exception {
        start("policies.p.limit", "1/1h", "policies.p.key", "ip");
        assertThat(code(descriptor("policy", "p", "masked_remote_address", "198.51.100.0/24")))
                .isEqualTo(Code.OK);
        assertThat(code(descriptor("policy", "p", "remote_address", "198.51.100.0")))
                .isEqualTo(Code.OVER_LIMIT);
    }

    @Test
    void allDescriptorsAreOneDecision() throws Exception {
        startApi("policies.day.limit", "10/1h", "policies.day.key", "principal");
        RateLimitDescriptor day = descriptor("policy", "day", "principal", "ann");
        assertThat(code(ANN, day)).isEqualTo(Code.OK);
        assertThat(code(ANN, day)).isEqualTo(Code.OK);
        RateLimitResponse rejected = server.call("edge", day, ANN);
        assertThat(codes(rejected)).containsExactly(Code.OK, Code.OVER_LIMIT);
        assertThat(server.call("edge", day).getStatuses(0).getLimitRemaining()).isEqualTo(7);
    }

    @Test
    void aSettingChargesEachDescriptorOnItsOwn() throws Exception {
        startApi("policies.day.limit", "10/1h", "policies.day.key", "principal", "envoy.all-or-nothing", "false");
        RateLimitDescriptor day = descriptor("policy", "day", "principal", "ann");
        for (int i = 0; i < 3; i++) {
            server.call("edge", day, ANN);
        }
        assertThat(server.call("edge", day).getStatuses(0).getLimitRemaining()).isEqualTo(6);
    }

    @Test
    void twoDescriptorsWithOneKeySpendTheSum() throws Exception {
        startApi();
        RateLimitResponse both = server.call("edge", ANN, ANN);
        assertThat(codes(both)).containsExactly(Code.OK, Code.OK);
        assertThat(both.getStatuses(1).getLimitRemaining()).isZero();
        assertThat(code(ANN)).isEqualTo(Code.OVER_LIMIT);
        assertThat(codes(server.call("edge", BOB, BOB, BOB))).containsOnly(Code.OVER_LIMIT);
        assertThat(code(BOB)).isEqualTo(Code.OK);
    }

    @Test
    void hitsAreTheCost() throws Exception {
        start("policies.p.limit", "10/1h", "policies.p.key", "global", "policies.p.cost", "3");
        RateLimitDescriptor p = descriptor("policy", "p");
        assertThat(server.call("edge", p).getStatuses(0).getLimitRemaining()).isEqualTo(7);
        assertThat(server.client()
                        .shouldRateLimit(request("edge", 2, p))
                        .getStatuses(0)
                        .getLimitRemaining())
                .isEqualTo(5);
        assertThat(server.call("edge", hits(4, p)).getStatuses(0).getLimitRemaining())
                .isEqualTo(1);
        assertThat(code(hits(-1, p))).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(hits(1, p))).isEqualTo(Code.OK);
    }

    @Test
    void noHitsLookAndSpendNothing() throws Exception {
        startApi();
        for (int i = 0; i < 3; i++) {
            assertThat(server.call("edge", hits(0, ANN)).getStatuses(0).getLimitRemaining())
                    .isEqualTo(2);
        }
        code(ANN);
        code(ANN);
        RateLimitResponse empty = server.call("edge", hits(0, ANN), BOB);
        assertThat(codes(empty)).containsExactly(Code.OVER_LIMIT, Code.OK);
        assertThat(server.call("edge", hits(0, BOB)).getStatuses(0).getLimitRemaining())
                .isEqualTo(2);
    }

    @Test
    void aRejectedLookIsARejectedCall() throws Exception {
        start("policies.p.limit", "1/month", "policies.p.key", "global", "policies.closed.limit", "0/1h");
        for (String policy : List.of("p", "closed")) {
            RateLimitDescriptor descriptor = descriptor("policy", policy);
            code(descriptor);
            RateLimitResponse call = server.call("edge", descriptor);
            RateLimitResponse look = server.call("edge", hits(0, descriptor));
            assertThat(look.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
            assertThat(look.getStatuses(0).getCurrentLimit())
                    .isEqualTo(call.getStatuses(0).getCurrentLimit());
            assertThat(headers(look)).containsOnlyKeys(headers(call).keySet());
            assertThat(look.getRawBody().toStringUtf8().contains("resets on"))
                    .as(policy)
                    .isEqualTo(policy.equals("p"));
        }
    }

    @Test
    void aLookIsRejectedForTheKeysWhoseCallsAre() throws Exception {
        startApi("policies.api.mode", "shadow", "policies.api.enforce-percent", "50");
        Set<Code> found = new TreeSet<>();
        for (int i = 0; i < 20; i++) {
            RateLimitDescriptor exhausted = descriptor("policy", "api", "principal", "p" + i);
            code(exhausted);
            code(exhausted);
            Code look = code(hits(0, exhausted));
            assertThat(look).as("p%s", i).isEqualTo(code(exhausted));
            found.add(look);
        }
        assertThat(found).containsExactly(Code.OK, Code.OVER_LIMIT);
    }

    @Test
    void aPolicyThatADescriptorNamesTwiceIsChargedOnce() throws Exception {
        startApi();
        for (RateLimitDescriptor twice : List.of(
                descriptor("policy", "api, api", "principal", "ann"),
                descriptor("generic_key", "api", "generic_key", "api", "principal", "bob"))) {
            assertThat(server.call("edge", twice).getStatuses(0).getLimitRemaining())
                    .as("%s", twice)
                    .isEqualTo(1);
        }
    }

    @Test
    void aStatusHasTheLimit() throws Exception {
        startApi();
        DescriptorStatus status = server.call("edge", ANN).getStatuses(0);
        assertThat(status.getCurrentLimit().getRequestsPerUnit()).isEqualTo(2);
        assertThat(status.getCurrentLimit().getUnit()).isEqualTo(Unit.HOUR);
        assertThat(status.getCurrentLimit().getName()).isEqualTo("api");
        assertThat(status.getLimitRemaining()).isEqualTo(1);
        assertThat(status.getDurationUntilReset().getSeconds()).isBetween(1L, 7_200L);
    }

    @Test
    void unitsAreThoseOfTheProtocol() throws Exception {
        Map<String, Unit> units = Map.of(
                "1s", Unit.SECOND,
                "1m", Unit.MINUTE,
                "minute", Unit.MINUTE,
                "hour", Unit.HOUR,
                "day", Unit.DAY,
                "week", Unit.WEEK,
                "month", Unit.MONTH,
                "year", Unit.YEAR,
                "quarter", Unit.UNKNOWN,
                "10s", Unit.UNKNOWN);
        Map<String, String> properties = new HashMap<>();
        units.forEach((text, unit) -> properties.put("ratelimit.policies.p" + text + ".limit", "5/" + text));
        server = TestServer.cold(properties);
        units.forEach((text, unit) -> assertThat(server.call("edge", descriptor("policy", "p" + text))
                        .getStatuses(0)
                        .getCurrentLimit()
                        .getUnit())
                .as(text)
                .isEqualTo(unit));
    }

    @Test
    void aRejectionHasTheFieldsAndTheBodyOfAnApplication() throws Exception {
        startApi("policies.api.help", "/limits", "headers", "ietf, draft-06, legacy");
        assertThat(headers(server.call("edge", ANN)))
                .containsOnlyKeys(
                        "RateLimit",
                        "RateLimit-Policy",
                        "RateLimit-Limit",
                        "RateLimit-Remaining",
                        "RateLimit-Reset",
                        "X-RateLimit-Limit",
                        "X-RateLimit-Remaining",
                        "X-RateLimit-Reset");
        code(ANN);
        RateLimitResponse rejected = server.call("edge", ANN);
        assertThat(headers(rejected))
                .containsEntry("Content-Type", "application/problem+json")
                .containsEntry("Cache-Control", "no-store")
                .containsEntry("Link", "</limits>; rel=\"help\"")
                .containsEntry("RateLimit-Policy", "\"api\";q=2;w=3600")
                .containsKeys("Retry-After", "RateLimit");
        assertThat(rejected.getRawBody().toStringUtf8())
                .contains("\"status\":429", "quota-exceeded", "\"violated-policies\":[\"api\"]");
    }

    @Test
    void aPolicyWithMinimalDisclosureShowsNoQuota() throws Exception {
        startApi("policies.api.disclosure", "minimal");
        RateLimitResponse allowed = server.call("edge", ANN);
        assertThat(allowed.getStatuses(0).hasCurrentLimit()).isFalse();
        assertThat(headers(allowed)).isEmpty();
        code(ANN);
        RateLimitResponse rejected = server.call("edge", ANN);
        assertThat(headers(rejected)).containsOnlyKeys("Retry-After", "Cache-Control", "Content-Type");
        assertThat(rejected.getRawBody().toStringUtf8()).doesNotContain("\"api\"");
    }

    @Test
    void shadowModeRejectsNothing() throws Exception {
        startApi("policies.api.mode", "shadow");
        for (int i = 0; i < 4; i++) {
            assertThat(code(ANN)).isEqualTo(Code.OK);
        }
        assertThat(server.call("edge", ANN).getStatuses(0).getCurrentLimit().getRequestsPerUnit())
                .isEqualTo(2);
    }

    @Test
    void aLimitOfADescriptorIsIgnoredUnlessAllowed() throws Exception {
        RateLimitDescriptor more = ANN.toBuilder()
                .setLimit(RateLimitDescriptor.RateLimitOverride.newBuilder()
                        .setRequestsPerUnit(100)
                        .setUnit(RateLimitUnit.HOUR))
                .build();
        try (LogCapture log = new LogCapture()) {
            startApi();
            assertThat(server.call("edge", more).getStatuses(0).getLimitRemaining())
                    .isEqualTo(1);
            assertThat(log.lines()).anyMatch(message -> message.contains("WEIR-726"));
        }
        server.close();
        startApi("envoy.limit-overrides", "allow");
        assertThat(server.call("edge", more).getStatuses(0).getLimitRemaining()).isEqualTo(99);
    }

    /** Starts the server with a rule for each user, and one for each policy. */
    private void startWithFile(String... more) throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.yaml"),
                "domain: edge\ndescriptors:\n"
                        + "  - { key: user, rate_limit: { unit: year, requests_per_unit: 1 } }\n"
                        + "  - { key: policy, value: gold, rate_limit: { unit: year, requests_per_unit: 1 } }\n");
        startApi(Stream.concat(Stream.of("envoy.config", file.toString()), Stream.of(more))
                .toArray(String[]::new));
    }

    @Tag("field")
    @Test
    void aRuleOfAFilePrecedesTheEntryPolicy() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startWithFile();
            RateLimitDescriptor gold = descriptor("policy", "gold");
            assertThat(code(gold)).isEqualTo(Code.OK);
            assertThat(code(gold)).isEqualTo(Code.OVER_LIMIT);
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-722"));
            assertThat(server.call("edge", ANN).getStatuses(0).getLimitRemaining())
                    .isEqualTo(1);
        }
    }

    @Tag("field")
    @Test
    void aDescriptorThatNoRuleFitsIsReportedOnce() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startWithFile();
            code(descriptor("user", "ann"));
            for (int i = 0; i < 3; i++) {
                assertThat(code(descriptor("users", "ann" + i))).isEqualTo(Code.OK);
            }
            assertThat(log.lines().stream().filter(line -> line.contains("WEIR-721")))
                    .singleElement()
                    .asString()
                    .startsWith("INFO")
                    .contains("edge", "[users]");
        }
    }

    @Test
    void manyDescriptorsThatNoRuleFitsHideNoWarning() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startWithFile();
            for (int i = 0; i < 200; i++) {
                assertThat(code(descriptor("users" + i + "x".repeat(10_000), "ann")))
                        .isEqualTo(Code.OK);
            }
            List<String> reports = log.lines().stream()
                    .filter(line -> line.contains("WEIR-721"))
                    .toList();
            assertThat(reports).hasSize(100).allMatch(line -> line.length() < 1_000);
            code(descriptor("policy", "unknown"));
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-722"));
        }
    }

    @Tag("field")
    @Test
    void aLimitOfADescriptorWithoutAPolicyIsReported() throws Exception {
        RateLimitDescriptor limited = descriptor("users", "ann").toBuilder()
                .setLimit(RateLimitDescriptor.RateLimitOverride.newBuilder()
                        .setRequestsPerUnit(1)
                        .setUnit(RateLimitUnit.HOUR))
                .build();
        for (String overrides : List.of("ignore", "allow")) {
            try (LogCapture log = new LogCapture()) {
                startWithFile("envoy.limit-overrides", overrides);
                code(limited);
                code(limited);
                assertThat(log.lines().stream().filter(line -> line.contains("WEIR-726")))
                        .singleElement()
                        .asString()
                        .startsWith("WARNING")
                        .contains("edge", "no policy");
            }
            stop();
        }
    }

    @Tag("field")
    @Test
    void hitsToReturnAreNotSpent() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startApi();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> server.call("edge", BOB, NEGATIVE))
                        .hasMessageContaining("UNIMPLEMENTED: is_negative_hits");
            }
            assertThat(log.lines().stream().filter(line -> line.contains("WEIR-733")))
                    .hasSize(1);
            assertThat(server.call("edge", ANN, BOB).getStatusesList())
                    .extracting(DescriptorStatus::getLimitRemaining)
                    .containsExactly(1, 1);
        }
    }

    @Tag("field")
    @Test
    void aCostAboveTheLimitIsReportedOnce() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startApi("policies.closed.limit", "0/1h");
            assertThat(code(hits(2, ANN))).isEqualTo(Code.OK);
            assertThat(code(hits(2, ANN))).isEqualTo(Code.OVER_LIMIT);
            assertThat(code(descriptor("policy", "closed"))).isEqualTo(Code.OVER_LIMIT);
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-734"));
            for (int i = 0; i < 2; i++) {
                assertThat(code(hits(3, BOB))).isEqualTo(Code.OVER_LIMIT);
            }
            assertThat(log.lines().stream().filter(line -> line.contains("WEIR-734")))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING")
                    .contains("api", "3");
        }
    }

    @Tag("field")
    @Test
    void theCostOfARejectedRequestCountsAsASetting() throws Exception {
        start(
                "policies.p.limit",
                "10/1h",
                "policies.p.key",
                "global",
                "policies.q.limit",
                "50/1h",
                "policies.q.key",
                "global",
                "envoy.over-limit",
                "count");
        RateLimitDescriptor p = descriptor("policy", "p");
        RateLimitDescriptor q = descriptor("policy", "q");
        assertThat(code(hits(4, p), hits(4, q))).isEqualTo(Code.OK);
        assertThat(code(hits(0, p))).isEqualTo(Code.OK);
        assertThat(code(hits(9, p), hits(9, q))).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(hits(0, p))).isEqualTo(Code.OVER_LIMIT);
        assertThat(server.call("edge", hits(0, q)).getStatuses(0).getLimitRemaining())
                .isEqualTo(37);
        assertThat(code(hits(9, p), hits(1, q))).isEqualTo(Code.OVER_LIMIT);
        assertThat(code(hits(0, p), hits(2, q))).as("rejected by a look").isEqualTo(Code.OVER_LIMIT);
        assertThat(server.call("edge", hits(0, q)).getStatuses(0).getLimitRemaining())
                .as("each cost of a rejected request counts")
                .isEqualTo(34);
    }

    @Test
    void tiersApply() throws Exception {
        startApi("policies.api.tier", "claim:plan", "policies.api.tiers.gold.limit", "50/1h");
        RateLimitDescriptor gold = descriptor("policy", "api", "principal", "gil", "claim:plan", "gold");
        assertThat(server.call("edge", gold).getStatuses(0).getLimitRemaining()).isEqualTo(49);
    }

    @Test
    void aBypassSpendsNothing() throws Exception {
        startApi("bypass.addresses", "192.0.2.0/24");
        RateLimitDescriptor exempt = descriptor("policy", "api", "principal", "ann", "remote_address", "192.0.2.9");
        for (int i = 0; i < 4; i++) {
            assertThat(code(exempt)).isEqualTo(Code.OK);
        }
        assertThat(server.call("edge", ANN).getStatuses(0).getLimitRemaining()).isEqualTo(1);
    }

    @Test
    void aMaskedAddressIsExemptIfItsWholeRangeIs() throws Exception {
        startApi("bypass.addresses", "192.0.2.0/24, 2001:db8::/32", "bypass.roles", "monitor");
        Map<String, Code> ranges = Map.of(
                "192.0.2.0/24", Code.OK,
                "192.0.2.128/25", Code.OK,
                "192.0.2.0", Code.OK,
                "2001:db8:1::/48", Code.OK,
                "192.0.0.0/16", Code.OVER_LIMIT,
                "192.0.2.0/23", Code.OVER_LIMIT,
                "192.0.2.7/24", Code.OVER_LIMIT,
                "2001::/16", Code.OVER_LIMIT);
        ranges.forEach((range, expected) -> {
            RateLimitDescriptor masked =
                    descriptor("policy", "api", "principal", range, "masked_remote_address", range);
            code(masked);
            code(masked);
            assertThat(code(masked)).as(range).isEqualTo(expected);
        });
        for (String[] other : List.of(new String[] {"remote_address", "192.0.2.7"}, new String[] {"role", "monitor"})) {
            RateLimitDescriptor exempt = descriptor(
                    "policy",
                    "api",
                    "principal",
                    "192.0.0.0/16",
                    "masked_remote_address",
                    "192.0.0.0/16",
                    other[0],
                    other[1]);
            assertThat(code(exempt)).as(other[0]).isEqualTo(Code.OK);
        }
    }

    @Test
    void aRoleBypassesTheLimits() throws Exception {
        startApi("bypass.roles", "monitor");
        RateLimitDescriptor exempt = descriptor("policy", "api", "principal", "ann", "role", "monitor");
        for (int i = 0; i < 4; i++) {
            assertThat(code(exempt)).isEqualTo(Code.OK);
        }
        assertThat(server.call("edge", ANN).getStatuses(0).getLimitRemaining()).isEqualTo(1);
    }

    @Test
    void aMissingLimitIsReportedOnce() throws Exception {
        try (LogCapture log = new LogCapture()) {
            startApi(
                    "policies.slots.concurrency",
                    "2",
                    "policies.fails.limit",
                    "1/1h",
                    "policies.fails.count",
                    "failure");
            for (int i = 0; i < 2; i++) {
                assertThat(code(descriptor("policy", "none"))).isEqualTo(Code.OK);
                assertThat(code(descriptor("any", "thing"))).isEqualTo(Code.OK);
                assertThat(code(descriptor("policy", "slots"))).isEqualTo(Code.OK);
                assertThat(code(descriptor("policy", "fails"))).isEqualTo(Code.OK);
            }
            assertThat(log.lines().stream()
                            .filter(message -> message.matches("(?s).*WEIR-72[123].*"))
                            .toList())
                    .hasSize(4);
        }
    }

    @Test
    void limitsCanBeDisabled() throws Exception {
        startApi("enabled", "false");
        for (int i = 0; i < 4; i++) {
            assertThat(code(ANN)).isEqualTo(Code.OK);
        }
        assertThat(code(NEGATIVE)).isEqualTo(Code.OK);
    }

    @Test
    void anInvalidRequestIsAnError() throws Exception {
        startApi();
        assertThatThrownBy(() -> server.call("", ANN)).hasMessageContaining("INVALID_ARGUMENT: the domain is empty");
        assertThatThrownBy(() -> server.call("edge")).hasMessageContaining("INVALID_ARGUMENT: the request has no");
        RateLimitDescriptor[] many = new RateLimitDescriptor[RateLimitService.MAX_DESCRIPTORS + 1];
        Arrays.fill(many, ANN);
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> server.call("edge", many))
                        .hasMessageContaining("INVALID_ARGUMENT: the request has more");
            }
            assertThat(log.lines().stream().filter(line -> line.contains("WEIR-725")))
                    .singleElement()
                    .asString()
                    .contains("\"edge\"", "more than 100 descriptors");
        }
    }
}
