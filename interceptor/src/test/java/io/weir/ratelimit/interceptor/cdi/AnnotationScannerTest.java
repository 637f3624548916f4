// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.interceptor.cdi.hidden.Visible;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@SuppressWarnings({"EmptyMethod", "unused", "ClassCanBeStatic"})
class AnnotationScannerTest {
    private final Problems problems = new Problems();

    /** Returns the policies of each limited method. */
    private Map<String, List<String>> policies(Class<?> beanClass) {
        Map<String, List<String>> all = new TreeMap<>();
        for (Method method : TypeHierarchy.methods(beanClass)) {
            new AnnotationScanner(MethodNames.of(Set.of()), problems)
                    .scan(beanClass, method)
                    .ifPresent(limits -> {
                        String types = Stream.of(method.getParameterTypes())
                                .map(Class::getSimpleName)
                                .collect(Collectors.joining(","));
                        List<String> before = all.put(method.getName() + "(" + types + ")", limits.policies());
                        assertThat(before).as("%s found once", method).isNull();
                    });
        }
        return all;
    }

    private MethodLimits only(Class<?> beanClass) {
        List<MethodLimits> limits = TypeHierarchy.methods(beanClass).stream()
                .flatMap(method ->
                        new AnnotationScanner(MethodNames.of(Set.of()), problems).scan(beanClass, method).stream())
                .toList();
        assertThat(limits).hasSize(1);
        return limits.get(0);
    }

    @RateLimit("class")
    static class OnClass {
        public void plain() {}

        @RateLimit(
                value = {"one", "two", "one"},
                cost = 7)
        public void own() {}

        @RateLimitExempt
        public void exempt() {}

        @RateLimit("protected")
        protected void ofSubclasses() {}

        void ofThePackage() {}

        @RateLimit("never")
        private void hidden() {}

        @RateLimit("never")
        public static void ofTheClass() {}
    }

    @Test
    void theAnnotationOfAMethodReplacesThatOfItsClass() {
        assertThat(policies(OnClass.class))
                .isEqualTo(Map.of(
                        "plain()", List.of("class"),
                        "own()", List.of("one", "two"),
                        "ofSubclasses()", List.of("protected"),
                        "ofThePackage()", List.of("class")));
        assertThat(problems.found()).isEmpty();
    }

    static class Sub extends OnClass {
        @Override
        public void plain() {}

        @Override
        public void own() {}

        @Override
        @RateLimitExempt
        void ofThePackage() {}

        @Override
        @RateLimit("overridden")
        public void exempt() {}

        public void added() {}
    }

    @Test
    void theNearestInheritedAnnotationApplies() {
        assertThat(policies(Sub.class))
                .isEqualTo(Map.of(
                        "plain()", List.of("class"),
                        "own()", List.of("one", "two"),
                        "exempt()", List.of("overridden"),
                        "ofSubclasses()", List.of("protected"),
                        "added()", List.of("class")));
    }

    @Test
    void theNearestAnnotationDecidesOnAnExemption() {
        assertThat(exempt(OnClass.class)).containsExactly("exempt");
        assertThat(exempt(Sub.class)).containsExactly("ofThePackage");
        assertThat(exempt(Inherits.class)).containsExactly("added", "exempt", "ofThePackage", "plain");
        assertThat(exempt(InheritsTwice.class)).containsExactly("added", "exempt", "further", "ofThePackage", "plain");
        assertThat(exempt(Unannotated.class)).isEmpty();
    }

    private List<String> exempt(Class<?> beanClass) {
        AnnotationScanner scanner = new AnnotationScanner(MethodNames.of(Set.of()), problems);
        return TypeHierarchy.methods(beanClass).stream()
                .filter(method -> scanner.isExempt(beanClass, method))
                .map(Method::getName)
                .sorted()
                .toList();
    }

    @RateLimitExempt
    static class Inherits extends OnClass {
        @Override
        public void plain() {}

        @Override
        @RateLimit("near")
        public void own() {}

        public void added() {}
    }

    static class InheritsTwice extends Inherits {
        public void further() {}
    }

    static class Unannotated {
        public void plain() {}
    }

    @RateLimit("interface")
    interface Api {
        void plain();

        @RateLimit("method")
        void own();

        default void inherited() {}
    }

    interface Wider extends Api {}

    static class Implementation implements Wider {
        @Override
        public void plain() {}

        @Override
        public void own() {}
    }

    @Test
    void annotationsOfInterfacesApplyToImplementations() {
        assertThat(policies(Implementation.class))
                .isEqualTo(Map.of(
                        "plain()", List.of("interface"),
                        "own()", List.of("method"),
                        "inherited()", List.of("interface")));
    }

    @LimitAnnotations.Limited
    static class Stereotyped {
        public void plain() {}
    }

    @LimitAnnotations.LimitedTwiceRemoved
    static class StereotypedTwice {
        public void plain() {}

        @LimitAnnotations.Bound
        public void bound() {}

        @LimitAnnotations.Unrelated
        public void unrelated() {}
    }

    @LimitAnnotations.Limited
    @RateLimit("direct")
    static class StereotypedAndDirect {
        public void plain() {}
    }

    /** A class that does not inherit the stereotype of its superclass, as in CDI. */
    static class OfStereotyped extends Stereotyped {}

    @LimitAnnotations.Unrelated
    static class Unlimited {
        public void plain() {}
    }

    @Test
    void stereotypesAndBindingsCanHaveTheAnnotation() {
        assertThat(policies(Stereotyped.class)).isEqualTo(Map.of("plain()", List.of("stereotype")));
        assertThat(policies(StereotypedTwice.class))
                .isEqualTo(Map.of(
                        "plain()", List.of("stereotype"),
                        "bound()", List.of("binding"),
                        "unrelated()", List.of("stereotype")));
        assertThat(policies(StereotypedAndDirect.class)).isEqualTo(Map.of("plain()", List.of("direct")));
        assertThat(policies(OfStereotyped.class)).isEmpty();
        assertThat(policies(Unlimited.class)).isEmpty();
    }

    @RateLimitExempt
    static class ExemptSub extends OnClass {
        @RateLimit("still")
        public void limited() {}
    }

    @RateLimit("again")
    static class LimitedAgain extends ExemptSub {
        public void added() {}
    }

    @Test
    void annotationsOfMethodsAndSubclassesOverrideAnExemptClass() {
        assertThat(policies(ExemptSub.class))
                .isEqualTo(Map.of(
                        "limited()", List.of("still"),
                        "own()", List.of("one", "two"),
                        "ofSubclasses()", List.of("protected")));
        assertThat(policies(LimitedAgain.class)).containsEntry("added()", List.of("again"));
        assertThat(problems.found()).isEmpty();
    }

    static class BothOnMethod {
        @RateLimit("a")
        @RateLimitExempt
        public void both(String text) {}
    }

    @RateLimit("a")
    @RateLimitExempt
    static class BothOnClass {
        public void plain() {}
    }

    @Test
    void bothAnnotationsOnOneElementAreReported() {
        assertThat(policies(BothOnMethod.class)).isEmpty();
        assertThat(policies(BothOnClass.class)).isEmpty();
        assertThat(problems.found())
                .extracting(ConfigurationProblem::toString)
                .containsExactly(
                        "WEIR-201 " + BothOnMethod.class.getName()
                                + ".both(String): the element has both @RateLimit and @RateLimitExempt; keep one of them",
                        "WEIR-201 " + BothOnClass.class.getName()
                                + ".plain(): the element has both @RateLimit and @RateLimitExempt; keep one of them");
    }

    static class Defining {
        @RateLimit(limit = "5/10s", key = "ip", algorithm = Algorithm.TOKEN_BUCKET, cost = 2)
        public void find() {}
    }

    static class DefiningNamed {
        @RateLimit(value = "api", limit = "5/10s")
        public void find() {}
    }

    static class NamingOnly {
        @RateLimit("api")
        public void find() {}
    }

    static class Nothing {
        @RateLimit
        public void find() {}
    }

    @Test
    void anInlinePolicyHasTheNameOfItsMethodUnlessItIsNamed() {
        String place = Defining.class.getName() + ".find()";
        MethodLimits defining = only(Defining.class);
        assertThat(defining.endpoint()).isEqualTo("Defining.find");
        assertThat(defining.policies()).containsExactly("Defining.find");
        assertThat(defining.cost()).isEqualTo(2);
        assertThat(defining.inlinePolicy())
                .contains(new MethodLimits.InlinePolicy(place, "Defining.find", "5/10s", "ip", Algorithm.TOKEN_BUCKET));
        assertThat(only(DefiningNamed.class).inlinePolicy())
                .contains(new MethodLimits.InlinePolicy(
                        DefiningNamed.class.getName() + ".find()", "api", "5/10s", "", Algorithm.SLIDING_WINDOW));
        MethodLimits naming = only(NamingOnly.class);
        assertThat(naming).isEqualTo(new MethodLimits(naming.name(), List.of("api"), 0, Optional.empty()));
        assertThat(naming.endpoint()).isEqualTo("NamingOnly.find");
        assertThat(only(Nothing.class).policies()).containsExactly("Nothing.find");
        assertThat(only(Nothing.class).inlinePolicy()).isPresent();
        assertThat(problems.found()).isEmpty();
    }

    static class Wrong {
        @RateLimit(
                value = {"a", "b"},
                limit = "5/10s")
        public void several() {}

        @RateLimit(
                value = {"a", "b"},
                key = "ip")
        public void severalKeys() {}

        @RateLimit(value = "a", cost = -1)
        public void cheap() {}
    }

    @Test
    void reportsInvalidDefinitionsWithTheirPlace() {
        policies(Wrong.class);
        String in = Wrong.class.getName();
        assertThat(problems.found())
                .extracting(ConfigurationProblem::toString)
                .containsExactlyInAnyOrder(
                        "WEIR-202 " + in
                                + ".cheap() = cost = -1: the cost is negative; remove the cost, or set 0, to use the cost of the policy",
                        "WEIR-203 " + in
                                + ".several() = [a, b]: the annotation defines limits for several policy names; name one policy, "
                                + "or move the limits to ratelimit.policies.<name>",
                        "WEIR-203 " + in
                                + ".severalKeys() = [a, b]: the annotation defines limits for several policy names; name one "
                                + "policy, or move the limits to ratelimit.policies.<name>");
    }

    static class Overloaded {
        @RateLimit("text")
        public void find(String text) {}

        @RateLimit("number")
        public void find(int number) {}

        public void find(long number) {}
    }

    static class OverloadedSub extends Overloaded {
        @Override
        public void find(String text) {}
    }

    @Test
    void distinguishesOverloads() {
        assertThat(policies(OverloadedSub.class))
                .isEqualTo(Map.of("find(String)", List.of("text"), "find(int)", List.of("number")));
    }

    interface Finder<T> {
        @RateLimit("generic")
        void find(T value);

        void other(T value);
    }

    abstract static class Base<T, U> {
        @RateLimit("base")
        public U keep(T value) {
            return null;
        }

        @RateLimit("number")
        public void number(long value) {}
    }

    static class TextFinder extends Base<String, Integer> implements Finder<String> {
        @Override
        public void find(String value) {}

        @Override
        public void other(String value) {}

        @Override
        public Integer keep(String value) {
            return 1;
        }

        public void number(String value) {}
    }

    @Test
    void resolvesOverridesOfGenericMethods() {
        assertThat(policies(TextFinder.class))
                .isEqualTo(Map.of(
                        "find(String)", List.of("generic"),
                        "keep(String)", List.of("base"),
                        "number(long)", List.of("number")));
    }

    @Test
    void findsAMethodThatIsPublicOnlyThroughABridge() {
        assertThat(policies(Visible.class)).isEqualTo(Map.of("find()", List.of("hidden")));
    }
}
