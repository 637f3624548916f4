// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.wrong.WrongResource;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A deployment with every kind of configuration problem. */
@Tag("server")
@Tag("ci")
class WrongConfigurationIT {
    private static final String PLACE = "io.weir.ratelimit.it.wrong.WrongResource.";

    @TempDir
    private Path temp;

    @Test
    void deploymentReportsAllProblems() {
        WebArchive war = TestWar.libraries("wrong.war")
                .addPackage(WrongResource.class.getPackage())
                .addAsResource("wrong.properties", "META-INF/microprofile-config.properties");

        String log =
                LibertyServer.named("wrong").war(TestWar.written(war, temp)).startExpectingFailure();

        assertThat(log).contains("CWWKZ0002E");
        List<String> problems = problems(log);
        assertThat(problems).allMatch(problem -> problem.matches("WEIR-\\d{3} .+: .+; .+"));
        // The order of the two overloads depends on the JVM, and the message has both.
        assertThat(problems)
                .filteredOn(problem -> problem.startsWith("WEIR-106"))
                .singleElement()
                .asString()
                .contains(PLACE + "twice()", PLACE + "twice(String)");
        assertThat(problems)
                .filteredOn(problem -> !problem.startsWith("WEIR-106"))
                .extracting(problem -> problem.substring(0, problem.indexOf(": ")))
                .containsExactlyInAnyOrder(
                        "WEIR-102 ratelimit.enabled = yes",
                        "WEIR-102 ratelimit.headers = fancy",
                        "WEIR-102 ratelimit.ipv4-prefix = 33",
                        "WEIR-102 ratelimit.policies.algorithm.algorithm = guess",
                        "WEIR-102 ratelimit.policies.cost.cost = -2",
                        "WEIR-102 ratelimit.policies.failure.on-failure = perhaps",
                        "WEIR-104 ratelimit.key-secret = ***",
                        "WEIR-109 ratelimit.policies.twins.limit",
                        "WEIR-110 WrongResource.unknownPolicy",
                        "WEIR-110 ratelimit.policies.unlimited",
                        "WEIR-111 " + PLACE + "inPlace() @RateLimit(limit) = 5/soon",
                        "WEIR-111 ratelimit.policies.huge.limit = 99999999999999999999/1s",
                        "WEIR-111 ratelimit.policies.long.limit = 10001/1s",
                        "WEIR-111 ratelimit.policies.negative.limit = -1/1m",
                        "WEIR-111 ratelimit.policies.no-window.limit = 10/0s",
                        "WEIR-111 ratelimit.policies.word.limit = x/1m",
                        "WEIR-111 ratelimit.policies.zero.limit = 0",
                        "WEIR-112 " + PLACE + "inPlace() @RateLimit(key) = moon",
                        "WEIR-112 ratelimit.policies.key.key = ip + phase-of-moon",
                        "WEIR-113 ratelimit.costs.No.method",
                        "WEIR-114 ratelimit.polices.api.limit",
                        "WEIR-115 ratelimit.policies.misspelt.limits",
                        "WEIR-140 ratelimit.policies.expensive.costs./export = 6",
                        "WEIR-201 " + PLACE + "both()",
                        "WEIR-205 ratelimit.backend = elephant",
                        "WEIR-403 ratelimit.redis.address = ***@cache.example:6379",
                        "WEIR-408 ratelimit.redis.deadline = never");
        assertThat(problems).anyMatch(problem -> problem.contains("set ratelimit.policies.nowhere.limit"));
        SecretScan.verifyAbsent(Server.directory("wrong"), "console.log", "messages.log");
    }

    /** Returns the lines after the heading of the first message. */
    private static List<String> problems(String log) {
        return Pattern.compile("WEIR-100 .*\\R((?:  WEIR-\\d+ .*\\R?)+)")
                .matcher(log)
                .results()
                .map(MatchResult::group)
                .findFirst()
                .orElseThrow(() -> new AssertionError(log))
                .lines()
                .skip(1)
                .map(String::strip)
                .toList();
    }
}
