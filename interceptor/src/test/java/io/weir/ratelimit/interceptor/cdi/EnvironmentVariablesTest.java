// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EnvironmentVariablesTest {
    private static Set<String> of(Map<String, String> properties, String... variables) {
        return new MicroProfileProperties(
                        new SmallRyeConfigBuilder()
                                .addDefaultInterceptors()
                                .withSources(new PropertiesConfigSource(properties, "application", 100))
                                .build(),
                        Set.of(variables),
                        List.of())
                .ownVariables();
    }

    @Test
    void areThoseWithThePrefix() {
        assertThat(of(Map.of(), "PATH", "RATELIMIT_A", "ratelimit_b")).containsExactly("RATELIMIT_A");
    }

    @Test
    void areNotThoseThatAnExpressionOrARedissonFileCanUse() {
        assertThat(of(
                        Map.of("ratelimit.key-secret", "${RATELIMIT_SECRET}", "a.b", "x-${RATELIMIT_B:none}"),
                        "RATELIMIT_SECRET",
                        "RATELIMIT_B",
                        "RATELIMIT_C"))
                .containsExactly("RATELIMIT_C");
        assertThat(of(
                        Map.of("ratelimit.redis.config", "/etc/redisson.yaml"),
                        "RATELIMIT_REDIS_PASSWORD",
                        "RATELIMIT_C"))
                .containsExactly("RATELIMIT_C");
        assertThat(of(Map.of(), "RATELIMIT_REDIS_ADRESS")).containsExactly("RATELIMIT_REDIS_ADRESS");
    }
}
