// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.AmbiguousResolutionException;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Named;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NamedResolversTest {

    @Named
    @ApplicationScoped
    static class Tenant implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.header("x-tenant").map(Identity::of);
        }
    }

    @Dependent
    static class Producer {
        @Produces
        @Named("region.code")
        KeyResolver region() {
            return call -> call.header("x-region").map(Identity::of);
        }

        @Produces
        KeyResolver nameless() {
            throw new IllegalStateException("a resolver without a name is not a key term");
        }
    }

    @Named("ip")
    @Dependent
    static class Ip extends Tenant {}

    @Named("the tenant")
    @Dependent
    static class Spaced extends Tenant {}

    @ApplicationScoped
    static class Service {
        @RateLimit("tenant")
        public void tenant() {}

        @RateLimit("region")
        public void region() {}

        @RateLimit("method")
        public void first() {}

        @RateLimit("method")
        public void second() {}
    }

    private static final String[] POLICIES = config(
            "ratelimit.policies.tenant.limit=1/1h",
            "ratelimit.policies.tenant.key=tenant",
            "ratelimit.policies.region.limit=1/1h",
            "ratelimit.policies.region.key=region.code | global",
            "ratelimit.policies.method.limit=1/1h",
            "ratelimit.policies.method.key=method");

    @Test
    void namedBeansAreKeyTerms() {
        try (Container container = Container.start(POLICIES, Service.class, Tenant.class, Producer.class)) {
            Service service = container.bean(Service.class);
            container.inRequest(TestCall.ofHeader("x-tenant", "acme"), service::tenant);
            container.inRequest(
                    TestCall.ofHeader("x-tenant", "acme"),
                    () -> assertThatThrownBy(service::tenant).isInstanceOf(RateLimitExceededException.class));
            container.inRequest(TestCall.ofHeader("x-tenant", "other"), service::tenant);
            container.inRequest(TestCall.ofHeader("x-region", "eu"), service::region);
            container.inRequest(TestCall.EMPTY, service::region);
            container.inRequest(
                    TestCall.EMPTY,
                    () -> assertThatThrownBy(service::region).isInstanceOf(RateLimitExceededException.class));
        }
    }

    @Test
    void theTermMethodIsTheCalledBeanMethod() {
        try (Container container = Container.start(POLICIES, Service.class, Tenant.class, Producer.class)) {
            Service service = container.bean(Service.class);
            TestCall resource = TestCall.EMPTY.withTerm("method", "Resource.get");
            container.inRequest(resource, service::first);
            container.inRequest(resource, service::second);
            container.inRequest(
                    resource, () -> assertThatThrownBy(service::first).isInstanceOf(RateLimitExceededException.class));
            container.inRequest(
                    resource, () -> assertThatThrownBy(service::second).isInstanceOf(RateLimitExceededException.class));
        }
    }

    @Test
    void aReservedOrInvalidNameFailsTheDeployment() {
        assertThatThrownBy(() -> Container.start(POLICIES, Tenant.class, Producer.class, Ip.class, Spaced.class))
                .hasMessageContaining("WEIR-213 " + Ip.class.getName() + " = ip: the bean name is not a valid key term")
                .hasMessageContaining(
                        "WEIR-213 " + Spaced.class.getName() + " = the tenant: the bean name is not a valid key term");
    }

    /** Weld itself reports equal names in one archive. This test simulates two archives that do not see each other. */
    @Test
    void reportsBothPlacesOfTwoBeansWithOneName() {
        Problems problems = new Problems();
        Set<Bean<?>> both = new LinkedHashSet<>(List.of(bean(Tenant.class), bean(Spaced.class)));
        BeanManager beans = (BeanManager) Proxy.newProxyInstance(
                NamedResolversTest.class.getClassLoader(),
                new Class<?>[] {BeanManager.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getBeans")) {
                        return both;
                    }
                    throw new AmbiguousResolutionException();
                });
        assertThat(new NamedResolvers(beans, problems).named(KeyResolver.class)).isEmpty();
        assertThat(problems.message())
                .contains("WEIR-213 " + Spaced.class.getName() + " and " + Tenant.class.getName()
                        + " = tenant: several KeyResolver beans have this name; give each bean a different name");
    }

    private static Bean<?> bean(Class<?> type) {
        return (Bean<?>) Proxy.newProxyInstance(
                NamedResolversTest.class.getClassLoader(),
                new Class<?>[] {Bean.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getName" -> "tenant";
                    case "getBeanClass" -> type;
                    case "hashCode" -> type.hashCode();
                    case "equals" -> proxy == arguments[0];
                    default -> null;
                });
    }

    @Test
    void messagesSuggestTheNamesOfResolvers() {
        assertThatThrownBy(() -> Container.start(
                        config("ratelimit.policies.a.limit=1/1h", "ratelimit.policies.a.key=tenent"), Tenant.class))
                .hasMessageContaining(
                        "WEIR-112 ratelimit.policies.a.key = tenent: at character 1: there is no key term \"tenent\"; "
                                + "did you mean tenant?");
    }
}
