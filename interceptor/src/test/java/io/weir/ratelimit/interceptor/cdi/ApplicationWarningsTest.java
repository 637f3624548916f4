// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.instance.ApplicationWarnings;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.interceptor.servlet.ServletMappings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApplicationWarningsTest {
    private static final String[] SOUND = config(
            "ratelimit.policies.org.limit=5/1m",
            "ratelimit.policies.org.key=path:org",
            "ratelimit.policies.ruled.limit=5/1m",
            "ratelimit.policies.ruled.paths=/api/orders, /api/*, /*, /{any}/orders",
            "ratelimit.policies.ruled.methods=GET, PURGE",
            "ratelimit.policies.ruled.costs.\"/api/export\"=2",
            "ratelimit.policies.rest.limit=5/1m",
            "ratelimit.policies.rest.paths=default",
            "ratelimit.clients.partner.policy=outgoing",
            "ratelimit.policies.outgoing.limit=5/1m",
            "ratelimit.policies.off.limit=5/1m",
            "ratelimit.policies.off.mode=off");

    /** Returns the warnings of an application that a servlet serves below {@code /api}. */
    private static List<String> warnings(String[] lines, Class<?>... beans) {
        return warnings(new ServletMappings(Set.of("/api/*"), false), lines, beans);
    }

    private static List<String> warnings(ServletMappings served, String[] lines, Class<?>... beans) {
        try (Container container = Container.start(lines, beans)) {
            return container.bean(RateLimitExtension.class).warnings(served).stream()
                    // Code names the client.
                    .filter(warning -> !warning.text().startsWith("WEIR-022 "))
                    .peek(warning -> assertThat(warning.level()).isEqualTo(System.Logger.Level.WARNING))
                    .map(MessageCatalog.Message::text)
                    .toList();
        }
    }

    private static String[] with(String... lines) {
        return Stream.concat(Arrays.stream(SOUND), Arrays.stream(lines)).toArray(String[]::new);
    }

    @Test
    void aSoundApplicationCausesNoWarning() {
        assertThat(warnings(SOUND, Orders.class)).isEmpty();
    }

    @Test
    void warnsOfAPathThatNoServletServes() {
        assertThat(warnings(
                        with(
                                "ratelimit.policies.lost.limit=5/1s",
                                "ratelimit.policies.lost.paths=/hello, /api/hello, /apis/*",
                                "ratelimit.policies.lost.costs.\"/export\"=2"),
                        Orders.class))
                .containsExactly(
                        "WEIR-225 ratelimit.policies.lost.paths = /hello: no request matches this path, because the"
                                + " servlets of the application serve only [/api/*]. Write the path below the context root.",
                        "WEIR-225 ratelimit.policies.lost.paths = /apis/*: no request matches this path, because the"
                                + " servlets of the application serve only [/api/*]. Write the path below the context root.",
                        "WEIR-225 ratelimit.policies.lost.costs./export = /export: no request matches this path,"
                                + " because the servlets of the application serve only [/api/*]. Write the path below the"
                                + " context root.");
    }

    @Test
    void saysNothingOfPathsIfTheServletsAreNotKnown() {
        String[] lost = with("ratelimit.policies.lost.limit=5/1s", "ratelimit.policies.lost.paths=/hello");
        assertThat(warnings(new ServletMappings(Set.of(), false), lost, Orders.class))
                .isEmpty();
        assertThat(warnings(new ServletMappings(Set.of("/api/*", "/hello"), false), lost, Orders.class))
                .isEmpty();
    }

    @Test
    void warnsOfAPolicyThatNothingUses() {
        assertThat(warnings(
                        with("ratelimit.policies.orq.limit=1/1s", "ratelimit.policies.mailing.limit=1/1s"),
                        Orders.class))
                .containsExactly(
                        "WEIR-226 ratelimit.policies.mailing: nothing uses the policy. No annotation names it, it has no"
                                + " path, and no bean injects RateLimiter. Name it in @RateLimit, set"
                                + " ratelimit.policies.mailing.paths, or remove it.",
                        "WEIR-226 ratelimit.policies.orq: nothing uses the policy. No annotation names it, it has no"
                                + " path, and no bean injects RateLimiter. Name it in @RateLimit, set"
                                + " ratelimit.policies.orq.paths, or remove it.");
    }

    @ParameterizedTest
    @ValueSource(classes = {Limiting.class, LimitingLater.class, LimitingByArgument.class, Located.class})
    void saysNothingOfPoliciesThatOtherCodeCanUse(Class<?> bean) {
        assertThat(warnings(with("ratelimit.policies.mailing.limit=1/1s"), Orders.class, bean))
                .isEmpty();
    }

    /** Code can use such a policy, but a reader of its page expects an effect on requests. */
    @Test
    void warnsOfAPolicyForRequestsThatOnlyCodeCanUse() {
        String[] plan = with(
                "ratelimit.policies.plan.limit=1000/30d",
                "ratelimit.policies.plan.notify-at=80%",
                "ratelimit.policies.plan.penalty.after=5/1m",
                "ratelimit.policies.plan.penalty.for=1m");
        assertThat(warnings(plan, Orders.class, Limiting.class))
                .containsExactly(
                        "WEIR-226 ratelimit.policies.plan: no annotation of a bean names the policy, and it has no"
                                + " path. Only calls of RateLimiter and resources that are not beans can use it, so [notify-at,"
                                + " penalty.after] can be without effect. Name it in @RateLimit, or set ratelimit.policies.plan.paths,"
                                + " unless code uses it.");
        assertThat(warnings(plan, Orders.class)).singleElement().asString().contains("nothing uses the policy");
        assertThat(warnings(
                        with(
                                "ratelimit.policies.plan.limit=1/1m",
                                "ratelimit.policies.plan.mode=shadow",
                                "ratelimit.policies.plan.enforce-percent=10"),
                        Orders.class,
                        Limiting.class))
                .singleElement()
                .asString()
                .contains("[enforce-percent]");
    }

    /** On Payara, a resource without a scope is not a bean. */
    @Test
    void saysNothingOfPoliciesThatAResourceOfJerseyCanUse() {
        String[] suspect = with(
                "ratelimit.policies.mailing.limit=1/1s",
                "ratelimit.policies.ruled.methods=GTE",
                "ratelimit.policies.ruled.paths=/hello");
        Set<String> patterns = Set.of("/api/*", "/health/*", "/metrics/*", "/openapi/*");
        assertThat(warnings(new ServletMappings(patterns, true), suspect, Orders.class))
                .extracting(line -> line.substring(0, 8))
                .containsExactly("WEIR-225", "WEIR-228");
    }

    private static List<String> environmentWarnings(boolean usesLimiter, boolean hidesClasses, String... variables) {
        ConfigProperties config = ConfigProperties.of(Map.of(
                "ratelimit.policies.api-v1.limit", "10/1m",
                "ratelimit.policies.api_v1.limit", "1000/1m",
                "ratelimit.policies.a.limit", "20/1m",
                "ratelimit.policies.a.tier", "header:X-Plan",
                "ratelimit.policies.a.tiers.b.limit", "20/1m",
                "ratelimit.policies.a_tiers_b.limit", "30/1m",
                "ratelimit.policies.orders.limit", "30/1m",
                "ratelimit.policies.orders.paths", "/a-b, /a_b",
                "ratelimit.policies.orders.costs./a-b", "2",
                "ratelimit.policies.orders.costs./a_b", "3"));
        Problems problems = new Problems();
        Map<String, Policy> policies = PolicyLoader.load(
                        config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
        assertThat(problems.found()).isEmpty();
        ApplicationView view = new ApplicationView(List.of(), List.of(), Set.of(), usesLimiter, hidesClasses);
        MethodLimits client = new MethodLimits(
                MethodLimits.Name.of("client:partner"), List.copyOf(policies.keySet()), 0, Optional.empty());
        return new ApplicationWarnings(policies, List.of(client), config, view)
                .all(Set.of(variables)).stream()
                        .map(MessageCatalog.Message::text)
                        .toList();
    }

    @Test
    @Tag("field")
    void warnsOfAVariableThatSetsSeveralProperties() {
        assertThat(environmentWarnings(
                        true,
                        true,
                        "RATELIMIT_POLICIES_API_V1_LIMIT",
                        "RATELIMIT_POLICIES_A_TIERS_B_LIMIT",
                        "RATELIMIT_POLICIES_ORDERS_COSTS__A_B",
                        "RATELIMIT_POLICIES_ORDERS_LIMIT"))
                .containsExactly(
                        "WEIR-017 Environment variable RATELIMIT_POLICIES_API_V1_LIMIT sets several properties:"
                                + " [ratelimit.policies.api-v1.limit, ratelimit.policies.api_v1.limit]. Their names differ"
                                + " only in characters that a variable does not have. Rename one, or set them in another source.",
                        "WEIR-017 Environment variable RATELIMIT_POLICIES_A_TIERS_B_LIMIT sets several properties:"
                                + " [ratelimit.policies.a.tiers.b.limit, ratelimit.policies.a_tiers_b.limit]. Their names differ"
                                + " only in characters that a variable does not have. Rename one, or set them in another source.",
                        "WEIR-017 Environment variable RATELIMIT_POLICIES_ORDERS_COSTS__A_B sets several properties:"
                                + " [ratelimit.policies.orders.costs./a-b, ratelimit.policies.orders.costs./a_b]. Their names differ"
                                + " only in characters that a variable does not have. Rename one, or set them in another source.");
    }

    @Test
    @Tag("field")
    void warnsOfAMisspelledVariableInEachApplication() {
        String[] variables = {
            "RATELIMIT_POLICIES_ORDERS_CONCURENCY",
            "RATELIMIT_POLICIES_LETTERS_OF_THE_SPRING_LIMIT",
            "RATELIMIT_CLIENTS_PARTNER_MAXPAUSE",
            "RATELIMIT_CLIENTS_PARTNER_MAX_PAUSE"
        };
        String meant = "WEIR-227 Environment variable RATELIMIT_POLICIES_ORDERS_CONCURENCY matches no property and is"
                + " ignored. Did you mean RATELIMIT_POLICIES_ORDERS_CONCURRENCY?";
        assertThat(environmentWarnings(true, false, variables))
                .hasSize(3)
                .contains(
                        meant,
                        "WEIR-227 Environment variable RATELIMIT_POLICIES_LETTERS_OF_THE_SPRING_LIMIT matches no property and is"
                                + " ignored. Correct or remove it.");
        assertThat(environmentWarnings(false, true, variables))
                .hasSize(3)
                .contains(
                        "WEIR-227 Environment variable RATELIMIT_POLICIES_ORDERS_CONCURENCY matches no property of a known"
                                + " policy. It has no effect, unless a resource that is not known at the start names its"
                                + " policy. Did you mean RATELIMIT_POLICIES_ORDERS_CONCURRENCY?",
                        "WEIR-227 Environment variable RATELIMIT_POLICIES_LETTERS_OF_THE_SPRING_LIMIT matches no property of a known"
                                + " policy. It has no effect, unless a resource that is not known at the start names its"
                                + " policy. Correct or remove it.");
    }

    @Test
    void warnsOfAnUnknownHttpMethod() {
        assertThat(warnings(with("ratelimit.policies.ruled.methods=GTE, PURGE, POST, X-X-X-X"), Orders.class))
                .containsExactly(
                        "WEIR-228 ratelimit.policies.ruled.methods = GTE: HTTP does not define the method, and no resource that"
                                + " is known at the start has it. Correct or remove it. The known methods are [CONNECT, DELETE,"
                                + " GET, HEAD, OPTIONS, PATCH, POST, PURGE, PUT, TRACE].",
                        "WEIR-228 ratelimit.policies.ruled.methods = X-X-X-X: HTTP does not define the method, and no"
                                + " resource that is known at the start has it. Correct or remove it. The known methods are"
                                + " [CONNECT, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PURGE, PUT, TRACE].");
    }

    @Test
    void warnsOfAPathParameterThatTheResourceDoesNotHave() {
        assertThat(warnings(with("ratelimit.policies.org.key=path:orq"), Orders.class))
                .containsExactly(
                        "WEIR-229 Orders.one: the path /orders/{org}/{id} has no parameter orq, which key path:orq of policy org"
                                + " uses. All callers share the key anonymous. Use a parameter of the path, or another key.");
        assertThat(warnings(with("ratelimit.policies.org.key=ip + path:customer"), Orders.class))
                .containsExactly("WEIR-229 Orders.one: the path /orders/{org}/{id} has no parameter customer, which key"
                        + " ip + path:customer of policy org uses. All callers share the key anonymous. Use a parameter of the path,"
                        + " or another key.");
        assertThat(warnings(with("ratelimit.policies.org.key=path:orq | ip"), Orders.class))
                .as("another alternative resolves")
                .isEmpty();
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @HttpMethod("PURGE")
    @interface Purge {}

    @Path("orders")
    @ApplicationScoped
    public static class Orders {
        @GET
        public void all() {}

        @GET
        @Path("{org: [a-z]+}/{id}")
        @RateLimit("org")
        public void one() {}

        @Purge
        public void purge() {}
    }

    @ApplicationScoped
    public static class Limiting {
        @Inject
        RateLimiter limiter;
    }

    @ApplicationScoped
    public static class LimitingLater {
        @Inject
        Instance<RateLimiter> limiter;
    }

    @ApplicationScoped
    public static class LimitingByArgument {
        void limit(RateLimiter limiter) {}
    }

    @Path("located")
    @ApplicationScoped
    public static class Located {
        @Path("{name}")
        public Object resource() {
            return this;
        }
    }
}
