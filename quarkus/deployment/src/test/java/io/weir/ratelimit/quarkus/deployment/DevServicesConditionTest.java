// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import jakarta.enterprise.inject.Produces;
import java.io.IOException;
import java.util.Map;
import org.jboss.jandex.Index;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

/** The properties for which no Redis starts in development and in tests. */
class DevServicesConditionTest {
    private static SmallRyeConfig config(Map<String, String> properties) {
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withProfile("dev")
                .withSources(new PropertiesConfigSource(properties, "application.properties", 250))
                .build();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '=', textBlock = """
                    ratelimit.redis.address             = redis://one:6379
                    ratelimit.redis.address             = redis://one:6379,redis://two:6379
                    ratelimit.redis.address[0]          = redis://one:6379
                    ratelimit.redis.address.0           = redis://one:6379
                    ratelimit.redis.address.[0]         = redis://one:6379
                    %dev.ratelimit.redis.address        = redis://one:6379
                    %dev.ratelimit.redis.address[0]     = redis://one:6379
                    ratelimit.redis.config              = classpath:sentinel.yaml
                    ratelimit.backend                   = local
                    ratelimit.enabled                   = false
                    """)
    void aConfiguredBackendIsUsed(String property, String value) {
        assertThat(DevServicesProcessor.hasBackend(config(Map.of(property, value))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"RATELIMIT_REDIS_ADDRESS", "RATELIMIT_REDIS_ADDRESS_0_", "RATELIMIT_REDIS_CONFIG"})
    void anEnvironmentVariableCounts(String variable) {
        SmallRyeConfig config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new EnvConfigSource(Map.of(variable, "redis://one:6379"), 300))
                .build();
        assertThat(DevServicesProcessor.hasBackend(config)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '=', textBlock = """
                    %prod.ratelimit.redis.address       = redis://one:6379
                    %prod.ratelimit.redis.config        = classpath:sentinel.yaml
                    ratelimit.redis.address             = ${REDIS_OF_PRODUCTION}
                    ratelimit.redis.deadline            = 1s
                    ratelimit.backend                   = redisson
                    """)
    void aRedisOfAnotherProfileDoesNotCount(String property, String value) {
        assertThat(DevServicesProcessor.hasBackend(config(Map.of(property, value))))
                .isFalse();
    }

    @Test
    void anEmptyAddressIsNone() {
        assertThat(DevServicesProcessor.hasBackend(config(Map.of("ratelimit.redis.address", ""))))
                .isFalse();
    }

    @Test
    void aClientOfTheApplicationIsUsed() throws IOException {
        assertThat(DevServicesProcessor.hasClient(Index.of(OfMethod.class))).isTrue();
        assertThat(DevServicesProcessor.hasClient(Index.of(OfField.class))).isTrue();
        assertThat(DevServicesProcessor.hasClient(Index.of(OfText.class))).isFalse();
    }

    static class OfMethod {
        @Produces
        RedissonClient client() {
            throw new UnsupportedOperationException();
        }
    }

    static class OfField {
        @Produces
        RedissonClient client;
    }

    static class OfText {
        @Produces
        String client = "";
    }
}
