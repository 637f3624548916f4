// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void withoutArgumentsEverythingRunsOnARedisOfItsOwn() {
        Options options = Options.parse();

        assertThat(options.chosen()).isEqualTo(Scenario.ALL);
        assertThat(options.cluster()).isEmpty();
        assertThat(options.wants("Bucket4j on Lettuce")).isTrue();
    }

    @Test
    void aWholeNameIsThatScenarioAndABeginningAllThatHaveIt() {
        Options options = Options.parse("--scenarios", "many-1,hot");

        assertThat(options.chosen())
                .extracting(Scenario::name)
                .containsExactly("many-1", "hot-1", "hot-16", "hot-64", "hot-async-256");
    }

    @Test
    void whatTheQuickRunShowsExists() {
        assertThat(Options.parse("quick").chosen())
                .extracting(Scenario::name)
                .containsExactlyElementsOf(Scenario.QUICK);
    }

    @Test
    void algorithmsAndContendersAreNamedAsTheTableNamesThem() {
        Options options = Options.parse("--algorithms", "token-bucket,fixed-window", "--contenders", "Bucket4j");

        assertThat(options.algorithms()).containsExactly(Algorithm.TOKEN_BUCKET, Algorithm.FIXED_WINDOW);
        assertThat(options.wants("Bucket4j on Redisson")).isTrue();
        assertThat(options.wants("Weir")).isFalse();
    }

    @Test
    void aClusterIsNamedByHostsAndPorts() {
        assertThat(Options.parse("--cluster", "127.0.0.1:1,redis://127.0.0.1:2").cluster())
                .containsExactly("redis://127.0.0.1:1", "redis://127.0.0.1:2");
    }

    @Test
    void whatIsNotUnderstoodIsNamed() {
        assertThatThrownBy(() -> Options.parse("--scenarios", "cold")).hasMessageContaining("cold");
        assertThatThrownBy(() -> Options.parse("--colour", "red")).hasMessageContaining("--colour");
        assertThatThrownBy(() -> Options.parse("--rounds")).hasMessageContaining("--rounds");
        assertThatThrownBy(() -> Options.parse("--algorithms", "sliding-log")).hasMessageContaining("sliding-log");
    }
}
