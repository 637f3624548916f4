// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void runsEverythingOnANewRedisByDefault() {
        Options options = Options.parse();

        assertThat(options.selected()).isEqualTo(Scenario.ALL);
        assertThat(options.cluster()).isEmpty();
        assertThat(options.includes("Bucket4j on Lettuce")).isTrue();
    }

    @Test
    void selectsScenariosByNameOrPrefix() {
        Options options = Options.parse("--scenarios", "many-1,hot");

        assertThat(options.selected())
                .extracting(Scenario::name)
                .containsExactly("many-1", "hot-1", "hot-4", "hot-16", "hot-64", "hot-async-256");
    }

    @Test
    void scenariosOfAClusterHaveAPrefix() {
        assertThat(Options.parse("--scenarios", "cluster-many-64,many-64").selected())
                .extracting(Scenario::name, Scenario::cluster)
                .containsExactly(tuple("many-64", false), tuple("cluster-many-64", true));
    }

    @Test
    void quickRunHasExistingScenarios() {
        assertThat(Options.parse("quick").selected())
                .extracting(Scenario::name)
                .containsExactlyElementsOf(Scenario.QUICK);
    }

    @Test
    void selectsAlgorithmsAndContendersByTheirNames() {
        Options options = Options.parse("--algorithms", "token-bucket,fixed-window", "--contenders", "Bucket4j");

        assertThat(options.algorithms()).containsExactly(Algorithm.TOKEN_BUCKET, Algorithm.FIXED_WINDOW);
        assertThat(options.includes("Bucket4j on Redisson")).isTrue();
        assertThat(options.includes("Weir")).isFalse();
    }

    @Test
    void deadlineIsThatOfWeirByDefault() {
        assertThat(Options.parse().deadline()).isEqualTo(Duration.ofMillis(100));
        assertThat(Options.parse("--deadline", "20").deadline()).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void readsTheAddressesOfACluster() {
        assertThat(Options.parse("--cluster", "127.0.0.1:1,redis://127.0.0.1:2").cluster())
                .containsExactly("redis://127.0.0.1:1", "redis://127.0.0.1:2");
    }

    @Test
    void reportsInvalidArguments() {
        assertThatThrownBy(() -> Options.parse("--scenarios", "cold")).hasMessageContaining("cold");
        assertThatThrownBy(() -> Options.parse("--color", "red")).hasMessageContaining("--color");
        assertThatThrownBy(() -> Options.parse("--rounds")).hasMessageContaining("--rounds");
        assertThatThrownBy(() -> Options.parse("--algorithms", "sliding-log")).hasMessageContaining("sliding-log");
    }
}
