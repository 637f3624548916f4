// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConfigurationProblemTest {

    @Test
    void textHasPlaceValueProblemAndRemedy() {
        assertThat(new ConfigurationProblem(
                        "WEIR-101", "ratelimit.policies.api.limit", "10/s", "no window", "write 10/1s"))
                .hasToString("WEIR-101 ratelimit.policies.api.limit = 10/s: no window; write 10/1s");
    }

    @Test
    void textOmitsAnEmptyValue() {
        assertThat(new ConfigurationProblem("WEIR-102", "Orders.list", "", "no limit", "give one"))
                .hasToString("WEIR-102 Orders.list: no limit; give one");
    }

    @Test
    void textReplacesControlCharacters() {
        assertThat(new ConfigurationProblem("WEIR-101", "p", "a\r\nb\tc\u001b[0m", "bad", "fix"))
                .hasToString("WEIR-101 p = a  b c [0m: bad; fix");
    }

    @Test
    void masksThePasswordOfAnyUri() {
        ConfigurationProblem problem = new ConfigurationProblem(
                "WEIR-205",
                "ratelimit.backend",
                "redis://user:c4nary@host:6379",
                "there is no such backend",
                "use auto");
        assertThat(problem.toString()).contains("redis://***@host:6379").doesNotContain("c4nary");
        assertThat(problem.value()).doesNotContain("c4nary");
    }
}
