// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each row of the tables in the page about Envoy has a test. */
class FeatureTablesTest {
    /** The tables that the report of the benchmarks writes. */
    private static final Pattern MEASURED = Pattern.compile("(?s)<!-- figures: .*?<!-- end of figures: ");

    private static final Path PAGE = Path.of("..", "docs", "how-to", "envoy.md");
    private static final Path TESTS = Path.of("src", "test", "java", "io", "weir", "ratelimit", "envoy");
    private static final Pattern ROW = Pattern.compile("(?m)^ *\\| (.+?) \\|");
    private static final Pattern HEAD = Pattern.compile("(?m)^ *\\| (.+?) \\|.*\\R *\\|---");

    /** The test of each row, by the first cell. */
    private static final Map<String, String> TEST_OF_ROW = new TreeMap<>(Map.ofEntries(
            Map.entry("`policy`", "RateLimitServiceTest.theEntryPolicyNamesThePolicyAndOtherEntriesItsKey"),
            Map.entry("`generic_key`", "RateLimitServiceTest.aGenericKeyNamesAPolicyOfItsName"),
            Map.entry(
                    "`remote_address`, `masked_remote_address`, `ip`",
                    "RateLimitServiceTest.aMaskedAddressIsTheAddress"),
            Map.entry(
                    "`principal`, `method`, `header:<name>`, `cookie:<name>`, `query:<name>`, `path:<name>`, `claim:<name>`, `arg:<name>`",
                    "RateLimitServiceTest.eachKeyTermIsAnEntry"),
            Map.entry("another name", "RateLimitServiceTest.eachKeyTermIsAnEntry"),
            Map.entry("`role`", "RateLimitServiceTest.aRoleBypassesTheLimits"),
            Map.entry("`overall_code`", "RateLimitServiceTest.theEntryPolicyNamesThePolicyAndOtherEntriesItsKey"),
            Map.entry("`statuses[].code`", "RateLimitServiceTest.allDescriptorsAreOneDecision"),
            Map.entry("`current_limit`", "RateLimitServiceTest.aStatusHasTheLimit"),
            Map.entry("`limit_remaining`", "RateLimitServiceTest.hitsAreTheCost"),
            Map.entry("`duration_until_reset`", "RateLimitServiceTest.aStatusHasTheLimit"),
            Map.entry(
                    "`response_headers_to_add`",
                    "RateLimitServiceTest.aRejectionHasTheFieldsAndTheBodyOfAnApplication"),
            Map.entry("`raw_body`", "RateLimitServiceTest.aRejectionHasTheFieldsAndTheBodyOfAnApplication"),
            Map.entry("`hits_addend`", "RateLimitServiceTest.hitsAreTheCost"),
            Map.entry("`hits_addend` of a descriptor", "RateLimitServiceTest.noHitsLookAndSpendNothing"),
            Map.entry("`hits_addend` above the remaining permits", "RateLimitServiceTest.hitsAreTheCost"),
            Map.entry(
                    "`hits_addend` above the remaining permits, with `ratelimit.envoy.over-limit=count`",
                    "RateLimitServiceTest.theCostOfARejectedRequestCountsAsASetting"),
            Map.entry("`limit` of a descriptor", "RateLimitServiceTest.aLimitOfADescriptorIsIgnoredUnlessAllowed"),
            Map.entry(
                    "`limit` of a descriptor without a policy",
                    "RateLimitServiceTest.aLimitOfADescriptorWithoutAPolicyIsReported"),
            Map.entry("`is_negative_hits` of a descriptor", "RateLimitServiceTest.hitsToReturnAreNotSpent"),
            Map.entry("a policy that the edge has charged for the same key", "ReceiptsTest.aRequestPaysOnce"),
            Map.entry("another policy or key", "ReceiptsTest.anotherKeyPaysForItself"),
            Map.entry(
                    "`RequestCharges.settle(policy, cost)`",
                    "ReceiptsTest.theApplicationSettlesWhatTheEdgeHasReserved"),
            Map.entry("a report", "QuotaServiceTest.theSharesFollowTheDemand"),
            Map.entry("too few permits", "QuotaServiceTest.theLastPermitsAreAssignedAndThenNone"),
            Map.entry("the end of a lease", "QuotaServiceTest.permitsThatAProxyHasNotUsedReturnAfterTheLease"),
            Map.entry(
                    "requests without a lease, as in `no_assignment_behavior`",
                    "QuotaBucketTest.requestsWithoutALeaseAreADebt"),
            Map.entry("a changed limit, a runtime change or a reload", "QuotaServiceTest.aChangedPolicyIsPushed"),
            Map.entry(
                    "a proxy that dies, a server that stops, or the end of a stream",
                    "QuotaServiceTest.theLeasesOfAProxyThatDiesStayCharged"),
            Map.entry(
                    "no report of a bucket for ten minutes",
                    "QuotaBucketTest.aBucketIsIdleAfterTwoIntervalsButNotBeforeTenMinutes"),
            Map.entry("a bucket without a policy", "QuotaServiceTest.aBucketWithoutALimitIsAbandonedOrOpen"),
            Map.entry("an exempt caller, an unlimited descriptor", "QuotaServiceTest.requestsBeforeALimitAreFree"),
            Map.entry("a policy in shadow mode", "QuotaServiceTest.shadowModeRejectsNothingAndChargesTheReports"),
            Map.entry(
                    "a bucket of more than 4096 bytes, or more than 10,000 buckets of a proxy",
                    "QuotaServiceTest.aLargeBucketIsAbandoned"),
            Map.entry("`ratelimit.envoy.socket`", "EnvoyServerTest.aSocketReplacesThePort"),
            Map.entry("`ratelimit.envoy.address`", "EnvoyServerTest.anOpenPortIsReported"),
            Map.entry(
                    "`ratelimit.envoy.tls.certificate`, `ratelimit.envoy.tls.key`",
                    "TlsTest.aClientTrustsTheCertificateOfTheServer"),
            Map.entry("`ratelimit.envoy.tls.client-ca`", "TlsTest.mutualTlsNeedsACertificateOfTheAuthority"),
            Map.entry(
                    "nested descriptors; as many entries as levels",
                    "config/EnvoyConfigTest.aDescriptorHasAsManyEntriesAsLevels"),
            Map.entry(
                    "`value`, then a wildcard such as `files/*` or `/users/*/orders`, then all values",
                    "config/EnvoyConfigTest.aWildcardFitsValuesAfterExactOnes"),
            Map.entry("`unit`: `second` to `year`", "config/EnvoyConfigTest.eachUnitIsALimit"),
            Map.entry("`unlimited`", "config/EnvoyConfigTest.aDescriptorCanBeUnlimited"),
            Map.entry("`shadow_mode`", "config/EnvoyConfigTest.shadowModeIsAMode"),
            Map.entry("`name`, `replaces`", "config/EnvoyConfigTest.aRuleReplacesOthers"),
            Map.entry("`share_threshold`", "config/EnvoyConfigTest.aSharedWildcardIsNoPartOfAnyKey"),
            Map.entry("`detailed_metric`, `value_to_metric`", "config/EnvoyConfigTest.fieldsForMetricsHaveNoEffect"),
            Map.entry(
                    "counters `near_limit` and `over_limit`",
                    "ServerMetersTest.theServerRecordsDecisionsAndTheirUtilization"),
            Map.entry("unknown fields", "config/EnvoyConfigTest.allProblemsHaveTheirLine"),
            Map.entry(
                    "a domain without `descriptors`",
                    "config/EnvoyConfigTest.aDomainWithoutDescriptorsIsAnErrorAndAnEmptyListIsNone")));

    private static Set<String> firstCells(Pattern pattern, String page) {
        return pattern.matcher(page).results().map(row -> row.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void eachRowHasATestAndEachTestARow() throws IOException {
        String page = MEASURED.matcher(Files.readString(PAGE)).replaceAll("");
        Set<String> rows = firstCells(ROW, page);
        rows.removeAll(firstCells(HEAD, page));
        assertThat(TEST_OF_ROW.keySet()).isEqualTo(rows);
    }

    @Test
    void eachTestExists() throws IOException {
        for (String test : List.copyOf(TEST_OF_ROW.values())) {
            String[] names = test.split("\\.");
            String source = Files.readString(TESTS.resolve(names[0] + ".java"));
            Matcher method =
                    Pattern.compile("@Test\\s+void " + names[1] + "\\(").matcher(source);
            assertThat(method.find()).as(test).isTrue();
        }
    }
}
