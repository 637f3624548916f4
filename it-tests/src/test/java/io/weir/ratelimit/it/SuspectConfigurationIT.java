// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.plain.PlainResource;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Valid configuration that does not fit the application. The resource has no scope, so it is not a bean on every server. */
@Tag("server")
@Tag("ci")
class SuspectConfigurationIT {
    /** On Payara, a message ends with brackets. */
    private static final Pattern WARNING = Pattern.compile("WEIR-22[5-9] .*?(?=]]|$)", Pattern.MULTILINE);

    private static final String PATH =
            "WEIR-225 ratelimit.policies.lost.paths = /plain: no request matches this path, because the"
                    + " servlets of the application serve only [/api/*]. Write the path below the context root.";
    private static final String USE =
            "WEIR-226 ratelimit.policies.spare: nothing uses the policy. No annotation names it, it has no"
                    + " path, and no bean injects RateLimiter. Name it in @RateLimit, set ratelimit.policies.spare.paths, or remove it.";
    private static final String ENVIRONMENT =
            "WEIR-227 Environment variable RATELIMIT_REDIS_ADRESS matches no property and is"
                    + " ignored. Did you mean RATELIMIT_REDIS_ADDRESS?";
    private static final String METHOD =
            "WEIR-228 ratelimit.policies.lost.methods = GTE: HTTP does not define the method, and no"
                    + " resource that is known at the start has it. Correct or remove it. The known methods are [CONNECT, DELETE,"
                    + " GET, HEAD, OPTIONS, PATCH, POST, PUT, TRACE].";
    private static final String KEY =
            "WEIR-229 PlainResource.get: the path /plain has no parameter id, which key path:id of"
                    + " policy PlainResource.get uses. All callers share the key anonymous. Use a parameter of the path, or another"
                    + " key.";
    private static final String PATH_ON_PAYARA =
            PATH.replace("[/api/*]", "[/api/*, /health/*, /metrics/*, /openapi/*]");

    @TempDir
    private Path temp;

    @Test
    void openLiberty() {
        // The servlets are not known there, so paths are not compared.
        reportsWhatDoesNotFit(() -> LibertyServer.named("suspect-liberty"), List.of(USE, ENVIRONMENT, METHOD, KEY));
    }

    @Test
    @Tag("ci")
    void payaraMicro() {
        // The resource is not a bean, so neither its policies nor its path parameters are known.
        reportsWhatDoesNotFit(() -> PayaraServer.named("suspect-payara"), List.of(PATH_ON_PAYARA, ENVIRONMENT, METHOD));
    }

    @Test
    @Tag("ci")
    void wildFly() {
        reportsWhatDoesNotFit(
                () -> WildFlyServer.named("suspect-wildfly"), List.of(PATH, USE, ENVIRONMENT, METHOD, KEY));
    }

    private void reportsWhatDoesNotFit(Supplier<ServerBuilder<?>> kind, List<String> expected) {
        reportsEachMistakeOnce(kind, expected);
        reportsNothingAboutTheExample(kind);
    }

    private void reportsEachMistakeOnce(Supplier<ServerBuilder<?>> kind, List<String> expected) {
        ServerBuilder<?> builder = kind.get()
                .war(TestWar.written(TestWar.libraries("plain.war").addPackage(PlainResource.class.getPackage()), temp))
                .readyPath("api/plain");
        builder.systemProperty("ratelimit.policies.lost.limit", "5/1h")
                .systemProperty("ratelimit.policies.lost.paths", "/plain")
                .systemProperty("ratelimit.policies.lost.methods", "GTE")
                .systemProperty("ratelimit.policies.found.limit", "5/1h")
                .systemProperty("ratelimit.policies.found.paths", "/api/plain")
                .systemProperty("ratelimit.policies.spare.limit", "5/1h")
                .systemProperty("ratelimit.policies.\"PlainResource.get\".key", "path:id")
                .environment("RATELIMIT_POLICIES__PLAINRESOURCE_GET__LIMIT", "4/1h")
                .environment("RATELIMIT_REDIS_ADRESS", "redis://cache:6379");
        try (Server server = builder.start()) {
            assertThat(warnings(server.log())).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    private static void reportsNothingAboutTheExample(Supplier<ServerBuilder<?>> kind) {
        try (Server server = kind.get().start()) {
            assertThat(warnings(server.log())).isEmpty();
        }
    }

    private static List<String> warnings(String log) {
        return WARNING.matcher(log)
                .results()
                .map(MatchResult::group)
                .map(String::strip)
                .toList();
    }
}
