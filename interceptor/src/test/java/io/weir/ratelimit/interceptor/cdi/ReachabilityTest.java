// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.decorator.Decorator;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
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
    @Tag("field")
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
        assertThat(found(UnannotatedResource.class))
                .as("the filter decides only methods that serve requests")
                .containsExactly("WEIR-208 Finder.find");
    }

    @RateLimit("a")
    interface Limited {
        void send();

        @GET
        default void get() {}
    }

    interface Narrower extends Limited {}

    static class OfLimited implements Narrower {
        @Override
        public void send() {}
    }

    static class SubOfLimited extends OfLimited {}

    @RateLimit("a")
    interface Marker {}

    static class Marked implements Marker {
        public void send() {}
    }

    static class MarkedResource implements Marker {
        @GET
        public void get() {}

        public void helper() {}
    }

    @RateLimit("b")
    static class LimitedItself extends OfLimited {}

    @RateLimitExempt
    static class ExemptItself extends OfLimited {}

    static class ExemptMethods implements Limited {
        @Override
        @RateLimitExempt
        public void send() {}
    }

    abstract static class NoBean implements Limited {}

    @Decorator
    static class Decorating implements Marker {
        public void send() {}
    }

    @Test
    void reportsAnAnnotatedInterfaceUnlessTheFilterDecides() {
        assertThat(found(OfLimited.class)).containsExactly("WEIR-208 Limited");
        assertThat(found(SubOfLimited.class)).containsExactly("WEIR-208 Limited");
        assertThat(found(Marked.class)).containsExactly("WEIR-208 Marker");
        assertThat(found(MarkedResource.class)).isEmpty();
        assertThat(found(LimitedItself.class)).isEmpty();
        assertThat(found(ExemptItself.class)).isEmpty();
        assertThat(found(ExemptMethods.class)).isEmpty();
        assertThat(found(NoBean.class)).isEmpty();
        assertThat(found(Decorating.class)).isEmpty();
        assertThat(found(Limited.class)).as("the bean of a REST client").isEmpty();
    }

    static class OfBindings {
        @LimitAnnotations.Bound
        private void hidden() {}

        @LimitAnnotations.Bound
        static void ofTheClass() {}

        @LimitAnnotations.Bound
        public void bound() {}

        @LimitAnnotations.Bound
        @RateLimitExempt
        public final void exempt() {}

        @LimitAnnotations.Unrelated
        public final void unrelated() {}
    }

    static class Overrides extends OfBindings {
        @Override
        public void bound() {}
    }

    @Test
    void bindingsOfTheApplicationAreReportedToo() {
        String hidden = "WEIR-207 OfBindings.hidden";
        String ofTheClass = "WEIR-207 OfBindings.ofTheClass";
        assertThat(found(OfBindings.class)).containsExactlyInAnyOrder(hidden, ofTheClass);
        assertThat(found(Overrides.class)).containsExactlyInAnyOrder(hidden, ofTheClass, "WEIR-208 OfBindings.bound");
    }

    @ApplicationScoped
    public static class AddedMethod {
        @RateLimit("own")
        public void own() {}

        public void other() {}
    }

    @ApplicationScoped
    public static class AddedClass {
        public void other() {}
    }

    /** An extension of an application. */
    public static class Adding implements Extension {
        private static final RateLimit ADDED = LimitAnnotations.Bound.class.getAnnotation(RateLimit.class);

        void methods(@Observes ProcessAnnotatedType<AddedMethod> event) {
            event.configureAnnotatedType().methods().forEach(method -> method.add(ADDED));
        }

        void type(@Observes ProcessAnnotatedType<AddedClass> event) {
            event.configureAnnotatedType().add(ADDED);
        }
    }

    @Test
    void deploymentFailsForAnAnnotationThatAnExtensionHasAdded() {
        String[] lines = {"ratelimit.policies.own.limit=2/1h"};
        assertThatThrownBy(() -> Container.start(lines, AddedMethod.class, AddedClass.class, Adding.class)
                        .close())
                .hasMessageContaining("WEIR-208 " + AddedMethod.class.getName() + ".other: a CDI extension has added")
                .hasMessageContaining("WEIR-208 " + AddedClass.class.getName() + ": a CDI extension has added")
                .hasMessageNotContaining(".own");
    }

    interface Shop {
        @Path("{id}")
        @RateLimit("a")
        Object item(String id);

        @GET
        @RateLimit("a")
        void get();
    }

    @Path("shop")
    static class ShopResource implements Shop {
        @Override
        public Object item(String id) {
            return id;
        }

        @Override
        public void get() {}
    }

    @Path("shop")
    static class AnnotatedShopResource extends ShopResource {
        @Override
        @RateLimit("b")
        public Object item(String id) {
            return id;
        }
    }

    @Test
    void aLocatorIsABeanMethod() {
        assertThat(found(ShopResource.class)).containsExactly("WEIR-208 Shop.item");
        assertThat(found(AnnotatedShopResource.class)).isEmpty();
    }
}
