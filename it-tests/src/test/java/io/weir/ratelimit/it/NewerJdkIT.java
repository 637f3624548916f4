// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The example, built with JDK 17, on each server with a newer JDK. */
@Tag("server")
@Tag("ci")
class NewerJdkIT {
    static Stream<Named<Supplier<ServerBuilder<?>>>> servers() {
        return Stream.of(
                Named.of("Open Liberty", () -> LibertyServer.named("newer-liberty")),
                Named.of("Payara Micro", () -> PayaraServer.named("newer-payara")),
                Named.of("WildFly", () -> WildFlyServer.named("newer-wildfly")));
    }

    @ParameterizedTest
    @MethodSource("servers")
    void exampleLimitsOnANewerJdk(Supplier<ServerBuilder<?>> kind) throws Exception {
        Path jdk = NewerJdk.required("servers on a newer JDK");
        try (Server server = kind.get().javaHome(jdk).start()) {
            assertThat(Path.of(server.handle().info().command().orElseThrow()).toRealPath())
                    .startsWith(jdk.toRealPath());

            var responses = IntStream.range(0, 6)
                    .mapToObj(i -> Http.get(server.baseUri().resolve("api/hello")))
                    .toList();

            assertThat(responses.subList(0, 5))
                    .allMatch(response -> response.statusCode() == 200)
                    .extracting(LimitResponse::remaining)
                    .isEqualTo(List.of(4L, 3L, 2L, 1L, 0L));
            LimitResponse.verifyRejected(responses.get(5), "hello");
            assertThat(server.log()).contains("WEIR-001");
        }
    }
}
