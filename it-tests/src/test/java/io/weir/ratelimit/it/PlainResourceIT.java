// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.plain.PlainResource;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A resource without a scope in a WAR without {@code beans.xml}, which is not a bean on every server, but limited on each of them. */
@Tag("server")
class PlainResourceIT {
    @TempDir
    private Path temp;

    static Stream<Named<Supplier<ServerBuilder<?>>>> servers() {
        return Stream.of(
                Named.of("Open Liberty", () -> LibertyServer.named("plain-liberty")),
                Named.of("Payara Micro", () -> PayaraServer.named("plain-payara")),
                Named.of("WildFly", () -> WildFlyServer.named("plain-wildfly")));
    }

    private ServerBuilder<?> plain(Supplier<ServerBuilder<?>> kind) {
        return kind.get()
                .war(TestWar.written(TestWar.libraries("plain.war").addPackage(PlainResource.class.getPackage()), temp))
                .readyPath("api/plain");
    }

    @ParameterizedTest
    @MethodSource("servers")
    void resourceWithoutAScopeIsLimited(Supplier<ServerBuilder<?>> kind) {
        try (Server server = plain(kind).start()) {
            assertThat(Http.statuses(3, server.baseUri().resolve("api/plain")))
                    .as("after the request of the readiness check")
                    .containsExactly(200, 200, 429);
            assertThat(server.messages()).as("a warning of RESTEasy about Weir").doesNotContain("RESTEASY002155");
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void invalidConfigurationFailsTheDeployment(Supplier<ServerBuilder<?>> kind) {
        ServerBuilder<?> builder = plain(kind);
        builder.systemProperty("ratelimit.policies.\"PlainResource.get\".limit", "3x1m");
        assertThat(builder.startExpectingFailure())
                .contains("WEIR-111 ratelimit.policies.\"PlainResource.get\".limit = 3x1m: ");
    }
}
