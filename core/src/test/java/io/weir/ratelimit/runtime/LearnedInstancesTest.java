// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.engine.ManualSleeper;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.tck.ManualTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The number of instances of an assembled limiter whose backend does not decide. */
class LearnedInstancesTest {
    private static final String INSTANCES = "ratelimit.instances";

    private final ManualSleeper timers = new ManualSleeper(new ManualTime());
    private int answer = 5;
    private int presences;

    /** A backend that learns the number of instances. */
    private final class SharedBackend extends FakeBackend {
        @Override
        public <C> Optional<C> capability(Class<C> type) {
            if (type == FleetStore.Presence.class) {
                FleetStore.Presence store = instance -> {
                    presences++;
                    return CompletableFuture.completedFuture(answer);
                };
                return Optional.of(type.cast(store));
            }
            return super.capability(type);
        }
    }

    private HostedWeir started(FakeBackend backend, Map<String, String> more) {
        Map<String, String> properties = new HashMap<>(more);
        properties.put("ratelimit.policies.api.limit", "10/1h");
        properties.put("ratelimit.policies.api.on-failure", "local");
        properties.putIfAbsent("ratelimit.backend", backend.name());
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        HostedWeir weir = HostedWeir.on(new Platform() {
            @Override
            public ConfigProperties.Sources properties() {
                return ConfigProperties.Sources.of(ConfigProperties.of(properties));
            }

            @Override
            public <T> List<T> all(Class<T> type) {
                return type == RateLimitBackend.class ? List.of(type.cast(backend)) : List.of();
            }

            @Override
            public Supplier<Executor> executor() {
                return () -> Runnable::run;
            }

            @Override
            public EngineEnvironment environment() {
                return new EngineEnvironment() {
                    @Override
                    public Sleeper tasks() {
                        return timers;
                    }
                };
            }
        });
        weir.start(Thread.currentThread().getContextClassLoader());
        return weir;
    }

    /** Runs each repeated task once. */
    private void runTasks() {
        List.copyOf(timers.timers).forEach(timer -> timer.complete(null));
    }

    private static long allowed(HostedWeir weir, String key) {
        long allowed = 0;
        for (int call = 0; call < 20; call++) {
            allowed += weir.limiter().acquire("api", key).allowed() ? 1 : 0;
        }
        return allowed;
    }

    @Test
    void eachInstanceAllowsItsShareOfTheLearnedNumber() {
        try (LogCapture log = new LogCapture();
                HostedWeir weir = started(new SharedBackend(), Map.of())) {
            assertThat(allowed(weir, "before")).as("before the first answer").isEqualTo(10);
            runTasks();
            assertThat(allowed(weir, "five")).isEqualTo(2);
            answer = 10;
            runTasks();
            assertThat(allowed(weir, "ten")).isEqualTo(1);
            assertThat(presences).isEqualTo(2);
            assertThat(log.lines())
                    .anyMatch(line -> line.contains("WEIR-001") && line.contains("; instances: auto"))
                    .noneMatch(line -> line.contains("WEIR-010"));
        }
    }

    @Test
    void autoIsTheDefault() {
        try (HostedWeir weir = started(new SharedBackend(), Map.of(INSTANCES, "auto"))) {
            runTasks();
            assertThat(allowed(weir, "five")).isEqualTo(2);
        }
    }

    @Test
    void aConfiguredNumberIsNotLearned() {
        try (HostedWeir weir = started(new SharedBackend(), Map.of(INSTANCES, "2"))) {
            runTasks();
            assertThat(allowed(weir, "two")).isEqualTo(5);
            assertThat(presences).isZero();
        }
    }

    @Test
    void limitsThatAreOffRecordNoPresence() {
        try (HostedWeir weir = started(new SharedBackend(), Map.of("ratelimit.enabled", "false"))) {
            runTasks();
            assertThat(allowed(weir, "all")).isEqualTo(20);
            assertThat(presences).isZero();
        }
    }

    @Test
    void aBackendThatLearnsNothingHasNoTaskAndAWarning() {
        try (LogCapture log = new LogCapture();
                HostedWeir weir = started(new FakeBackend(), Map.of())) {
            int tasks = timers.timers.size();
            assertThat(allowed(weir, "all")).isEqualTo(10);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-010"))
                    .singleElement()
                    .asString()
                    .contains("backend fake does not learn the number of instances");
            try (HostedWeir other = started(new SharedBackend(), Map.of())) {
                assertThat(other.limiter()).isNotNull();
                assertThat(timers.timers).hasSize(2 * tasks + 1);
            }
        }
    }

    @Test
    void theBackendInProcessHasNoTask() {
        try (HostedWeir weir = started(new SharedBackend(), Map.of("ratelimit.backend", "local"))) {
            runTasks();
            assertThat(allowed(weir, "all")).isEqualTo(10);
            assertThat(presences).isZero();
        }
    }
}
