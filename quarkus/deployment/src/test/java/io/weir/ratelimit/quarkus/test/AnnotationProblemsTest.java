// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Problems of annotations fail the build, all at once. */
class AnnotationProblemsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(
                    Both.class, Hidden.class, NoBean.class, Defaults.class, Inherits.class, Overrides.class))
            .assertException(failure -> assertThat(failure)
                    .hasStackTraceContaining("WEIR-201 " + Both.class.getName() + ".both()")
                    .hasStackTraceContaining("WEIR-207 " + Hidden.class.getName() + ".hidden")
                    .hasStackTraceContaining("WEIR-208 " + Defaults.class.getName() + ".inherited: the default method")
                    .hasStackTraceContaining("so " + Inherits.class.getName() + " is not limited")
                    .satisfies(each ->
                            assertThat(Throwables.getStackTrace(each)).doesNotContain(Overrides.class.getName()))
                    .hasStackTraceContaining("WEIR-203 " + NoBean.class.getName() + ".several()"));

    @Test
    void isNotReached() {
        throw new AssertionError("the build has to fail");
    }

    @Path("both")
    public static class Both {
        @GET
        @RateLimit("once")
        @RateLimitExempt
        public String both() {
            return "";
        }
    }

    @ApplicationScoped
    public static class Hidden {
        @RateLimit("once")
        static String hidden() {
            return "";
        }
    }

    public interface Defaults {
        @RateLimit("once")
        default String inherited() {
            return "";
        }
    }

    @ApplicationScoped
    public static class Inherits implements Defaults {}

    @ApplicationScoped
    public static class Overrides implements Defaults {
        @Override
        @RateLimit("once")
        public String inherited() {
            return "";
        }
    }

    public static class NoBean {
        @RateLimit(
                value = {"one", "two"},
                limit = "1/1s")
        public String several() {
            return "";
        }
    }
}
