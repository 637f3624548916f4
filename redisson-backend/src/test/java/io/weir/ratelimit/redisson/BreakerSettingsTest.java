// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BreakerSettingsTest {
    private static final String METHOD = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";

    private final List<ConfigurationProblem> problems = new ArrayList<>();

    private BreakerSettings read(String... namesAndValues) {
        Map<String, String> properties = new HashMap<>(Map.of("CircuitBreaker/enabled", "true"));
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return BreakerSettings.read(new TestConfig(properties).properties(), problems);
    }

    @Test
    void defaultsToTheAnnotationOfTheGuard() throws Exception {
        Method call = RedisGuard.class.getMethod("call", io.weir.ratelimit.spi.BackendException.class);
        CircuitBreaker annotation = call.getAnnotation(CircuitBreaker.class);
        assertThat(read())
                .isEqualTo(BreakerSettings.DEFAULT)
                .isEqualTo(new BreakerSettings(
                        true,
                        annotation.requestVolumeThreshold(),
                        Duration.of(annotation.delay(), annotation.delayUnit()),
                        annotation.successThreshold()));
        assertThat(annotation.failureRatio()).isEqualTo(1);
    }

    @Test
    void readsThePropertiesOfMicroProfileFaultTolerance() {
        assertThat(read(
                        METHOD + "requestVolumeThreshold", "20",
                        METHOD + "delay", "15",
                        METHOD + "delayUnit", "SECONDS",
                        METHOD + "successThreshold", "3"))
                .isEqualTo(new BreakerSettings(true, 20, Duration.ofSeconds(15), 3));
        assertThat(problems).isEmpty();
    }

    @Test
    void prefersAPropertyOfTheMethod() {
        assertThat(read("CircuitBreaker/delay", "7").delay()).isEqualTo(Duration.ofMillis(7));
        assertThat(read("CircuitBreaker/delay", "7", METHOD + "delay", "2").delay())
                .isEqualTo(Duration.ofMillis(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                METHOD + "enabled",
                "io.weir.ratelimit.redisson.RedisGuard/CircuitBreaker/enabled",
                "CircuitBreaker/enabled"
            })
    void isDisabledByThePropertiesThatDisableThePlatformsBreaker(String name) {
        assertThat(read(name, "false").enabled()).isFalse();
        assertThat(read(name, "true").enabled()).isTrue();
    }

    @Test
    void prefersItsOwnSwitch() {
        assertThat(read(METHOD + "enabled", "true", "CircuitBreaker/enabled", "false")
                        .enabled())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "requestVolumeThreshold, 0",
        "requestVolumeThreshold, five",
        "delay, -1",
        "delay, 1.5",
        "delay, 31536000001",
        "delay, 9223372036854775807",
        "delayUnit, FORTNIGHTS",
        "delayUnit, MONTHS",
        "successThreshold, 0"
    })
    void reportsAnInvalidValueAndKeepsTheDefault(String parameter, String value) {
        assertThat(read(METHOD + parameter, value)).isEqualTo(BreakerSettings.DEFAULT);
        assertThat(problems).singleElement().satisfies(problem -> {
            assertThat(problem.id()).isEqualTo("WEIR-415");
            assertThat(problem.place()).isEqualTo(METHOD + parameter);
            assertThat(problem.value()).isEqualTo(value);
        });
    }
}
