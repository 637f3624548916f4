// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

@SuppressWarnings({"EmptyMethod", "unused"})
class ReachabilityTest {

    private static List<String> found(Class<?> beanClass) {
        Problems problems = new Problems();
        new Reachability(problems).check(beanClass);
        return problems.found().stream()
                .map(ConfigurationProblem::toString)
                .map(text -> text.replaceAll(":.*", "").replace(ReachabilityTest.class.getName() + "$", ""))
                .toList();
    }

    static class Unreachable {
        @RateLimit("a")
        private void hidden() {}

        @RateLimit("a")
        static void ofTheClass() {}

        @RateLimit("a")
        public final void last() {}

        @RateLimit("a")
        public void ordinary() {}
    }

    @Path("resource")
    static class Resource {
        @GET
        @RateLimit("a")
        public final void last() {}
    }

    interface Finder<T> {
        @RateLimit("a")
        void find(T value);

        @RateLimit("a")
        default void inherited() {}
    }

    static class Unannotated implements Finder<String> {
        @Override
        public void find(String value) {}
    }

    static class Annotated implements Finder<String> {
        @Override
        @RateLimit("b")
        public void find(String value) {}
    }

    @RateLimitExempt
    static class ExemptOnClass implements Finder<String> {
        @Override
        public void find(String value) {}
    }

    @Path("resource")
    static class UnannotatedResource implements Finder<String> {
        @Override
        public void find(String value) {}
    }

    @Test
    void reportsMethodsThatCannotBeInterceptedUnlessTheFilterDecides() {
        assertThat(found(Unreachable.class))
                .containsExactlyInAnyOrder(
                        "WEIR-207 Unreachable.hidden", "WEIR-207 Unreachable.ofTheClass", "WEIR-207 Unreachable.last");
        assertThat(found(Resource.class)).isEmpty();
    }

    @Test
    void reportsAnAnnotationThatABeanDoesNotInherit() {
        assertThat(found(Unannotated.class)).containsExactly("WEIR-208 Finder.find");
        assertThat(found(Annotated.class)).isEmpty();
        assertThat(found(ExemptOnClass.class)).isEmpty();
        assertThat(found(UnannotatedResource.class)).isEmpty();
    }
}
