// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.plain.PlainResource;
import io.weir.ratelimit.it.unchecked.UncheckedResource;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resource without a scope in a WAR without {@code beans.xml}, which is not a bean on every server, but limited on each of them. */
@Tag("server")
@Tag("ci")
class PlainResourceIT {
    @TempDir
    private Path temp;

    @Test
    void openLiberty() {
        limitsAPlainResource(() -> LibertyServer.named("plain-liberty"));
    }

    @Test
    void payaraMicro() {
        limitsAPlainResource(() -> PayaraServer.named("plain-payara"));
    }

    @Test
    void wildFly() {
        limitsAPlainResource(() -> WildFlyServer.named("plain-wildfly"));
    }

    private void limitsAPlainResource(Supplier<ServerBuilder<?>> kind) {
        resourceWithoutAScopeIsLimited(kind);
        invalidConfigurationFailsTheDeployment(kind);
        invalidAnnotationsFailTheDeployment(kind);
    }

    private ServerBuilder<?> plain(Supplier<ServerBuilder<?>> kind) {
        return kind.get()
                .war(TestWar.written(TestWar.libraries("plain.war").addPackage(PlainResource.class.getPackage()), temp))
                .readyPath("api/plain");
    }

    private void resourceWithoutAScopeIsLimited(Supplier<ServerBuilder<?>> kind) {
        try (Server server = plain(kind).start()) {
            assertThat(Http.statuses(3, server.baseUri().resolve("api/plain")))
                    .as("after the request of the readiness check")
                    .containsExactly(200, 200, 429);
            assertThat(server.log())
                    .containsPattern(
                            "(?s)WEIR-001 .*  policy PlainResource\\.get: 3/1h sliding-window; key ip; 1 method");
            assertThat(server.messages()).as("a warning of RESTEasy about Weir").doesNotContain("RESTEASY002155");
        }
    }

    private void invalidConfigurationFailsTheDeployment(Supplier<ServerBuilder<?>> kind) {
        ServerBuilder<?> builder = plain(kind);
        builder.systemProperty("ratelimit.policies.\"PlainResource.get\".limit", "3x1m");
        assertThat(builder.startExpectingFailure())
                .contains("WEIR-111 ratelimit.policies.\"PlainResource.get\".limit = 3x1m: ");
    }

    private void invalidAnnotationsFailTheDeployment(Supplier<ServerBuilder<?>> kind) {
        WebArchive war = TestWar.libraries("unchecked.war").addPackage(UncheckedResource.class.getPackage());
        assertThat(kind.get().war(TestWar.written(war, temp)).startExpectingFailure())
                .containsSubsequence(
                        "WEIR-100 The rate limit configuration is invalid:",
                        "WEIR-201 " + UncheckedResource.class.getName() + ".both(): ",
                        "WEIR-111 " + UncheckedResource.class.getName()
                                + ".invalidLimit() @RateLimit(limit) = 5/soon: ",
                        "WEIR-110 UncheckedResource.missingPolicy: policy nowhere has no limit");
    }
}
