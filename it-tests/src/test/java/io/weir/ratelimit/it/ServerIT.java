// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The launcher of servers distinguishes broken and running applications. */
@Tag("server")
@Tag("ci")
class ServerIT {
    @TempDir
    private Path temp;

    static Stream<Named<Supplier<ServerBuilder<?>>>> servers() {
        return Stream.of(
                Named.of("Open Liberty", () -> LibertyServer.named("broken-liberty")),
                Named.of("Payara Micro", () -> PayaraServer.named("broken-payara")),
                Named.of("WildFly", () -> WildFlyServer.named("broken-wildfly")),
                Named.of(
                        "GlassFish",
                        () -> GlassFishServer.named("broken-glassfish").javaHome(NewerJdk.required("GlassFish"))));
    }

    @ParameterizedTest
    @MethodSource("servers")
    void brokenApplicationIsAFailure(Supplier<ServerBuilder<?>> kind) {
        Path broken = TestWar.written(
                ShrinkWrap.create(WebArchive.class, "broken.war").addClass(UnsatisfiedBean.class), temp);
        assertThatThrownBy(() -> kind.get().war(broken).start().close())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has failed")
                .hasMessageContaining("WELD-001408");
    }

    @ParameterizedTest
    @MethodSource("servers")
    void startedApplicationIsNotTheExpectedFailure(Supplier<ServerBuilder<?>> kind) {
        assertThatThrownBy(() -> kind.get().startExpectingFailure())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("started the application");
    }
}
