// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Annotated generic methods: the place of the implementing method, of the type argument, and of the annotation. In each case the annotation
 * applies, or the deployment fails, because CDI does not inherit annotations of methods.
 */
@SuppressWarnings("unused")
class GenericMethodsTest {
    interface Store<T> {
        @RateLimit("store")
        String save(T value);
    }

    interface TextStore extends Store<String> {}

    abstract static class AbstractStore<T> {
        @RateLimit("store")
        public abstract String save(T value);
    }

    abstract static class AbstractTextStore extends AbstractStore<String> {}

    interface Bounded<T extends CharSequence & Comparable<T>> {
        @RateLimit("store")
        String save(T value);
    }

    interface Several<K, V> {
        @RateLimit("store")
        String save(K[] keys, List<V> values, V value);
    }

    interface Plain {
        @RateLimit("store")
        String save(String value);
    }

    static class Base {
        public String save(String value) {
            return value;
        }
    }

    static class GenericBase<E> {
        public String save(E value) {
            return "" + value;
        }
    }

    static class SeveralBase {
        public String save(Integer[] keys, List<String> values, String value) {
            return value;
        }
    }

    // The method in the class.
    static class DeclaredInterface implements Store<String> {
        @Override
        public String save(String value) {
            return value;
        }
    }

    static class DeclaredNarrower implements TextStore {
        @Override
        public String save(String value) {
            return value;
        }
    }

    static class DeclaredSuperclass extends AbstractStore<String> {
        @Override
        public String save(String value) {
            return value;
        }
    }

    static class DeclaredNarrowerSuperclass extends AbstractTextStore {
        @Override
        public String save(String value) {
            return value;
        }
    }

    static class DeclaredBound implements Bounded<String> {
        @Override
        public String save(String value) {
            return value;
        }
    }

    @SuppressWarnings("rawtypes")
    static class DeclaredRaw implements Store {
        @Override
        public String save(Object value) {
            return "" + value;
        }
    }

    // The method in a superclass, which does not know the interface.
    static class InheritedPlain extends Base implements Plain {}

    static class InheritedInterface extends Base implements Store<String> {}

    static class InheritedNarrower extends Base implements TextStore {}

    static class InheritedBound extends Base implements Bounded<String> {}

    static class InheritedTwice extends InheritedInterface {}

    static class InheritedGeneric extends GenericBase<String> implements Store<String> {}

    static class InheritedOpen<X> extends GenericBase<X> implements Store<X> {}

    static class InheritedClosed extends InheritedOpen<String> {}

    static class InheritedSeveral extends SeveralBase implements Several<Integer, String> {}

    // Methods of the same name that implement nothing.
    static class OtherType extends Base {
        public String save(Integer value) {
            return "" + value;
        }
    }

    static Stream<Arguments> implementations() {
        return Stream.of(
                        DeclaredInterface.class,
                        DeclaredNarrower.class,
                        DeclaredSuperclass.class,
                        DeclaredNarrowerSuperclass.class,
                        DeclaredBound.class,
                        DeclaredRaw.class,
                        InheritedPlain.class,
                        InheritedInterface.class,
                        InheritedNarrower.class,
                        InheritedBound.class,
                        InheritedTwice.class,
                        InheritedGeneric.class,
                        InheritedOpen.class,
                        InheritedClosed.class,
                        InheritedSeveral.class)
                .map(Arguments::of);
    }

    private static List<List<String>> policies(Class<?> beanClass) {
        return TypeHierarchy.methods(beanClass).stream()
                .map(method -> new AnnotationScanner(MethodNames.of(Set.of()), new Problems()).scan(beanClass, method))
                .flatMap(Optional::stream)
                .map(MethodLimits::policies)
                .toList();
    }

    private static List<String> problems(Class<?> beanClass) {
        Problems problems = new Problems();
        new Reachability(problems).check(beanClass);
        return problems.found().stream()
                .map(ConfigurationProblem::toString)
                .map(text -> text.substring(0, 8))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("implementations")
    @Tag("field")
    void annotationAppliesOnceAndIsReportedWhereCdiDoesNotInheritIt(Class<?> beanClass) {
        assertThat(policies(beanClass)).containsExactly(List.of("store"));
        assertThat(problems(beanClass)).containsExactly("WEIR-208");
    }

    /** A container calls a method by any of its declarations, also by the bridge. */
    @ParameterizedTest
    @MethodSource("implementations")
    @Tag("field")
    void eachDeclarationHasTheAnnotation(Class<?> beanClass) {
        List<Method> declarations = TypeHierarchy.of(beanClass).stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.getName().equals("save"))
                .toList();
        assertThat(declarations)
                .hasSizeGreaterThan(1)
                .allSatisfy(method -> assertThat(
                                new AnnotationScanner(MethodNames.of(Set.of()), new Problems()).scan(beanClass, method))
                        .map(MethodLimits::policies)
                        .contains(List.of("store")));
    }

    @Test
    void methodOfAnotherTypeIsNotLimited() {
        assertThat(policies(OtherType.class)).isEmpty();
        assertThat(problems(OtherType.class)).isEmpty();
        class Both extends OtherType implements Store<String> {}
        assertThat(policies(Both.class)).containsExactly(List.of("store"));
    }

    @RateLimit("bean")
    static class LimitedBean extends Base implements Store<String> {}

    @RateLimitExempt
    static class ExemptBean extends Base implements Store<String> {}

    @Path("stores")
    static class Resource extends Base implements Store<String> {}

    interface ResourceApi<T> {
        @POST
        @RateLimit("store")
        String save(T value);
    }

    static class ApiResource extends Base implements ResourceApi<String> {}

    /** The annotation of the bean class applies to inherited methods as well. */
    @Test
    @Tag("field")
    void annotatedBeansAndResourcesAreReachable() {
        assertThat(problems(LimitedBean.class)).isEmpty();
        assertThat(problems(ExemptBean.class)).isEmpty();
        assertThat(problems(Resource.class)).as("the method serves no requests").containsExactly("WEIR-208");
        assertThat(problems(ApiResource.class)).isEmpty();
        assertThat(policies(Resource.class)).containsExactly(List.of("store"));
    }

    @LimitAnnotations.Limited
    static class StereotypedBase {
        public String save(String value) {
            return value;
        }
    }

    static class OfStereotypedBase extends StereotypedBase implements Plain {}

    /** CDI does not inherit the stereotype of a superclass, unless the stereotype itself is inherited. */
    @Test
    void annotationOfTheDeclaringClassIsNotThatOfTheBean() {
        assertThat(problems(OfStereotypedBase.class)).containsExactly("WEIR-208");
    }

    /** A class whose method returns a type parameter. */
    public abstract static class Loader<D> {
        @RateLimit("calls")
        @SuppressWarnings("unchecked")
        public D load(int id) {
            return (D) ("text " + id);
        }
    }

    /** The same method with the type argument, so that the compiler adds a method to the bean class. */
    public interface TextLoader {
        String load(int id);
    }

    @ApplicationScoped
    public static class TextLoaderBean extends Loader<String> implements TextLoader {}

    @Test
    @Tag("field")
    void methodWithANarrowerResultIsLimitedByEachType() {
        assertThat(problems(TextLoaderBean.class)).isEmpty();
        String[] lines = {"ratelimit.policies.calls.limit=2/1h"};
        try (Container container = Container.start(lines, TextLoaderBean.class)) {
            TextLoader narrow = container.bean(TextLoader.class);
            Loader<String> wide = container.bean(TextLoaderBean.class);
            assertThat(narrow.load(1)).isEqualTo("text 1");
            assertThat(wide.load(2)).isEqualTo("text 2");
            assertThatThrownBy(() -> narrow.load(3)).isInstanceOf(RateLimitExceededException.class);
            assertThatThrownBy(() -> wide.load(4)).isInstanceOf(RateLimitExceededException.class);
        }
    }

    /** The problem is that of the deployment, not only of the scanner. */
    @Test
    @Tag("field")
    void deploymentFailsForAnAnnotationThatCdiDoesNotInherit() {
        assertThatThrownBy(() -> Container.start(new String[] {"ratelimit.policies.store.limit=2/1h"}, StoreBean.class)
                        .close())
                .hasMessageContaining("WEIR-208 " + Store.class.getName() + ".save")
                .hasMessageContaining(StoreBean.class.getName());
    }

    @ApplicationScoped
    public static class StoreBean extends Base implements Store<String> {}
}
