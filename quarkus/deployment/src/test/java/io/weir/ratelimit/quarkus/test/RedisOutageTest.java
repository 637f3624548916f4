// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The failure modes with Weir's own breaker. */
@Tag("redis")
class RedisOutageTest extends OutageContract {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application();

    @AfterEach
    void verifyTheBreaker() {
        assertThat(metrics()).doesNotContain("ft_circuitbreaker");
    }
}
