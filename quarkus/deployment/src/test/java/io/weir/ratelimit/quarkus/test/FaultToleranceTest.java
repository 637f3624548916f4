// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.builder.Version;
import io.quarkus.maven.dependency.Dependency;
import io.quarkus.test.QuarkusUnitTest;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The failure modes with the breaker of SmallRye Fault Tolerance, whose extension the test downloads. */
@Tag("redis")
@Tag("long")
class FaultToleranceTest extends OutageContract {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application()
            .setForcedDependencies(
                    List.of(Dependency.of("io.quarkus", "quarkus-smallrye-fault-tolerance", Version.getVersion())));

    @AfterEach
    void verifyTheBreaker() {
        assertThat(metrics()).containsPattern("ft_circuitbreaker_opened_total\\{[^}]*RedisGuard[^}]*} [1-9]");
    }
}
