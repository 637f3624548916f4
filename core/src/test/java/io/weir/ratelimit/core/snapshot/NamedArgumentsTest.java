// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class NamedArgumentsTest {
    private static final Policy LOGIN = Policy.builder(
                    new PolicyLimits("login", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 1, Duration.ofSeconds(1)))),
                    KeyExpression.parse("ip + arg:user", new KeyTerms(32, 64)))
            .build();

    static class Plain {}

    interface Contract {
        void inherited(String other, @RateLimitKey("user") String user);
    }

    static class Logins implements Contract {
        void named(@RateLimitKey("user") String user) {}

        void second(int a, @RateLimitKey("user") UUID user) {}

        void unnamed(String user) {}

        void otherwise(@RateLimitKey("username") String user) {}

        void array(@RateLimitKey("user") char[] user) {}

        void plain(@RateLimitKey("user") Plain user) {}

        void anything(@RateLimitKey("user") Object user) {}

        @Override
        public void inherited(String other, String user) {}
    }

    @Test
    void findsAnArgumentByItsName() {
        assertThat(NamedArguments.of(Logins.class, method("named"))).containsEntry("user", 0);
        assertThat(NamedArguments.of(Logins.class, method("second"))).containsEntry("user", 1);
        assertThat(NamedArguments.of(Logins.class, method("inherited"))).containsEntry("user", 1);
        for (String valid : List.of("named", "second", "inherited", "anything")) {
            assertThat(problems(valid)).isEmpty();
        }
    }

    @Test
    void reportsAnArgumentWithoutAName() {
        assertThat(problems("unnamed"))
                .singleElement()
                .asString()
                .startsWith("WEIR-209 ")
                .contains("Logins.unnamed", "arg:user");
        assertThat(problems("otherwise"))
                .singleElement()
                .asString()
                .startsWith("WEIR-209 ")
                .contains("@RateLimitKey(\"user\")", "[username]");
    }

    @Test
    void reportsAnArgumentWithoutAText() {
        assertThat(problems("array"))
                .singleElement()
                .asString()
                .startsWith("WEIR-210 ")
                .contains("char[]");
        assertThat(problems("plain"))
                .singleElement()
                .asString()
                .startsWith("WEIR-210 ")
                .contains("Plain");
    }

    private static List<?> problems(String name) {
        Problems problems = new Problems();
        NamedArguments.check(Logins.class, method(name), LOGIN, problems);
        return problems.found();
    }

    private static Method method(String name) {
        return Arrays.stream(Logins.class.getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
