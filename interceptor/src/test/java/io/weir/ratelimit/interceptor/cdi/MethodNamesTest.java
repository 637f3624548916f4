// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names of methods whose classes have one simple name, and of overloads. */
class MethodNamesTest {
    private static final String PACKAGE = MethodNamesTest.class.getName() + "$";
    private static final String V1 = PACKAGE + "V1$Orders.list";
    private static final String V2 = PACKAGE + "V2$Orders.list";
    private static final String[] EACH = {
        "ratelimit.policies.each.limit=2/1m", "ratelimit.policies.each.key=method",
    };

    private final LogCapture log = new LogCapture();

    @AfterEach
    void closeLog() {
        log.close();
    }

    private static String name(MethodNames names, Class<?> type, Class<?>... parameters) {
        Method method = Arrays.stream(type.getDeclaredMethods())
                .filter(each -> !each.isSynthetic() && Arrays.equals(each.getParameterTypes(), parameters))
                .findFirst()
                .orElseThrow();
        return names.of(type, method).text();
    }

    private static String[] eachAnd(String... lines) {
        List<String> all = new ArrayList<>(List.of(EACH));
        all.addAll(List.of(lines));
        return all.toArray(String[]::new);
    }

    @Test
    void aNameIsSimpleUnlessAnotherLimitedMethodHasIt() {
        MethodNames one = MethodNames.of(List.of(V1.Orders.class));
        assertThat(name(one, V1.Orders.class)).isEqualTo("Orders.list");
        assertThat(one.ambiguous()).isEmpty();
        MethodNames both = MethodNames.of(List.of(V1.Orders.class, V2.Orders.class));
        assertThat(name(both, V1.Orders.class)).isEqualTo(V1);
        assertThat(name(both, V2.Orders.class)).isEqualTo(V2);
        assertThat(both.ambiguous()).containsOnlyKeys("Orders.list");
    }

    @Test
    void overloadsHaveTheirParameters() {
        MethodNames names = MethodNames.of(List.of(Overloads.class));
        String list = PACKAGE + "Overloads.list";
        assertThat(name(names, Overloads.class)).isEqualTo(list + "()");
        assertThat(name(names, Overloads.class, String.class, int.class)).isEqualTo(list + "(String,int)");
        assertThat(name(names, Overloads.class, Date.class)).isEqualTo(list + "(java.util.Date)");
        assertThat(name(names, Overloads.class, java.sql.Date.class)).isEqualTo(list + "(java.sql.Date)");
    }

    @Test
    void aResourceWithoutAnnotationsDoesNotRenameALimitedMethod() {
        MethodNames names = MethodNames.of(List.of(Unlimited.Orders.class, V1.Orders.class));
        assertThat(name(names, V1.Orders.class)).isEqualTo("Orders.list");
        assertThat(name(names, Unlimited.Orders.class)).isEqualTo(PACKAGE + "Unlimited$Orders.list");
    }

    @Test
    void aMethodThatIsKnownFromItsFirstCallHasItsOwnName() {
        MethodNames names = MethodNames.of(Set.of(V1.Orders.class));
        assertThat(name(names, V2.Orders.class)).isEqualTo(V2);
        assertThat(name(names, V1.Orders.class)).isEqualTo("Orders.list");
        assertThat(name(names, V2.Orders.class)).isEqualTo(V2);
    }

    @Test
    @Tag("field")
    void theKeyMethodIsDifferentForVersionsAndOverloads() {
        try (Container container = Container.start(EACH, V1.Orders.class, V2.Orders.class, Overloads.class)) {
            V1.Orders first = container.bean(V1.Orders.class);
            Overloads overloads = container.bean(Overloads.class);
            List<Runnable> methods = List.of(
                    first::list, container.bean(V2.Orders.class)::list, overloads::list, () -> overloads.list("a", 1));
            for (Runnable method : methods) {
                method.run();
                method.run();
                assertThatThrownBy(method::run).isInstanceOf(RateLimitExceededException.class);
            }
        }
        assertThat(log.lines()).anySatisfy(line -> assertThat(line).contains("WEIR-036", "Orders.list", V1, V2));
    }

    @Test
    @Tag("field")
    void costsAndEventsHaveTheQualifiedName() {
        String[] lines = eachAnd("ratelimit.costs.\"" + V1 + "\"=2", "ratelimit.costs.\"Orders.list\"=1");
        try (Container container = Container.start(lines, V1.Orders.class, V2.Orders.class, Events.class)) {
            container.bean(V1.Orders.class).list();
            container.bean(V2.Orders.class).list();
            assertThat(container.bean(Events.class).seen()).containsExactly(V1 + " 2", V2 + " 1");
        }
    }

    @Test
    @Tag("field")
    void aCostCanHaveMoreDetailsThanNecessary() {
        for (String name : List.of("Orders.list", V1, V1 + "()")) {
            String[] lines = eachAnd("ratelimit.costs.\"" + name + "\"=2");
            try (Container container = Container.start(lines, V1.Orders.class, Events.class)) {
                container.bean(V1.Orders.class).list();
                assertThat(container.bean(Events.class).seen()).containsExactly("Orders.list 2");
            }
        }
        assertThatThrownBy(() -> Container.start(eachAnd("ratelimit.costs.\"v1.Orders.list\"=2"), V1.Orders.class))
                .hasMessageContaining("WEIR-113")
                .hasMessageContaining("[Orders.list]");
    }

    @Test
    void policiesWithoutANameNeedOneIfTheirMethodsShareIt() {
        assertThatThrownBy(() -> Container.start(new String[0], V1.Inline.class, V2.Inline.class))
                .hasMessageContaining("WEIR-106")
                .hasMessageContaining(PACKAGE + "V1$Inline")
                .hasMessageContaining("@RateLimit(value = ...)");
        assertThatThrownBy(() -> Container.start(new String[0], InlineDates.class))
                .hasMessageContaining("WEIR-106");
    }

    /** The class loader of an archive that has its own copy of a class. */
    private static final class Archive extends ClassLoader {
        Archive() {
            super(MethodNamesTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : own(name);
        }

        Class<?> own(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    @Tag("field")
    void classesOfSeveralArchivesOutsideOfTheLibraryAreKnown() throws ClassNotFoundException {
        List<Class<?>> archives = List.of(
                new Archive().loadClass(V1.Orders.class.getName()), new Archive().loadClass(V2.Orders.class.getName()));
        assertThat(MethodNames.of(archives).ofOtherLoaders()).containsExactlyElementsOf(archives);
        assertThat(MethodNames.of(archives.subList(0, 1)).ofOtherLoaders()).hasSize(1);
        assertThat(MethodNames.of(List.of(V1.Orders.class, V2.Orders.class)).ofOtherLoaders())
                .isEmpty();
    }

    @Test
    void aFormIsPartOfTheName() {
        MethodLimits.Name name = new MethodLimits.Name("b.A.m", List.of("A.m", "b.A.m", "b.A.m()"));
        assertThat(name.isQualified()).isTrue();
        assertThat(name.simple()).isEqualTo("A.m");
        assertThat(name.full()).isEqualTo("b.A.m()");
        assertThat(MethodLimits.Name.of("A.m").isQualified()).isFalse();
    }

    @ApplicationScoped
    public static class Events implements DecisionListener {
        private final List<String> seen = new ArrayList<>();

        @Override
        public void onDecision(DecisionEvent event) {
            for (Charge charge : event.charges()) {
                seen.add(event.endpoint() + " " + charge.cost());
            }
        }

        public List<String> seen() {
            return List.copyOf(seen);
        }
    }

    public static final class V1 {
        @ApplicationScoped
        public static class Orders {
            @RateLimit("each")
            public void list() {}
        }

        @ApplicationScoped
        public static class Inline {
            @RateLimit(limit = "2/1m")
            public void list() {}
        }
    }

    public static final class V2 {
        @ApplicationScoped
        public static class Orders {
            @RateLimit("each")
            public void list() {}
        }

        @ApplicationScoped
        public static class Inline {
            @RateLimit(limit = "2/1m")
            public void list() {}
        }
    }

    public static final class Unlimited {
        @Path("orders")
        public static class Orders {
            @GET
            public String list() {
                return "";
            }
        }
    }

    @ApplicationScoped
    @RateLimit("each")
    public static class Overloads {
        public void list() {}

        public void list(String name, int page) {}

        public void list(Date from) {}

        public void list(java.sql.Date from) {}
    }

    @ApplicationScoped
    public static class InlineDates {
        @RateLimit(limit = "2/1m")
        public void list(Date from) {}

        @RateLimit(limit = "2/1m")
        public void list(java.sql.Date from) {}
    }
}
