// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.fixtures.LogCapture;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.spi.DeploymentException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The check of resources that the server has left to its REST implementation. */
class ResourceCheckTest {
    private static final String[] POLICIES = config("ratelimit.policies.api.limit=1/1h");

    private LogCapture log;

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private List<String> resourceMessages() {
        return log.lines().stream()
                .filter(line -> line.contains("WEIR-001 Resource classes"))
                .toList();
    }

    private static void check(String[] lines, Class<?> bean, Class<?>... classes) {
        try (Container container = Container.start(lines, bean)) {
            container.bean(RateLimitExtension.class).checkResources(Set.of(classes));
        }
    }

    @Test
    void allProblemsAreReportedTogether() {
        assertThatThrownBy(() -> check(POLICIES, Bean.class, Invalid.class, Plain.class))
                .isInstanceOf(DeploymentException.class)
                .hasMessageStartingWith("WEIR-100 The rate limit configuration is invalid:\n")
                .hasMessageContaining("  WEIR-110 Invalid.missing: policy nowhere has no limit")
                .hasMessageContaining("  WEIR-111 " + Invalid.class.getName() + ".soon() @RateLimit(limit) = 5/soon: ")
                .hasMessageContaining("  WEIR-201 " + Invalid.class.getName() + ".both(): ")
                .hasMessageContaining("  WEIR-209 ");
        assertThat(resourceMessages()).isEmpty();
    }

    @Test
    void aDefinitionThatABeanHasTooIsAProblem() {
        assertThatThrownBy(() -> check(POLICIES, Bean.class, Twin.class)).hasMessageContaining("WEIR-106 ");
    }

    @Test
    void thePoliciesOfValidResourcesAreLogged() {
        check(POLICIES, Bean.class, Plain.class);
        assertThat(resourceMessages())
                .containsExactly(
                        "INFO WEIR-001 Resource classes without a scope are not beans on this server. Their policies:\n"
                                + "  policy Plain.own: 2/1h sliding-window; key ip; 1 method\n"
                                + "  policy api: 1/1h sliding-window; key principal | ip; 1 method");
    }

    @Test
    void beansAndOtherClassesAreNotCheckedAgain() {
        check(POLICIES, Bean.class, Bean.class, NoResource.class);
        assertThat(resourceMessages()).isEmpty();
    }

    @Test
    void problemsAreFoundEvenIfLimitsAreDisabled() {
        String[] disabled = config("ratelimit.policies.api.limit=1/1h", "ratelimit.enabled=false");
        assertThatThrownBy(() -> check(disabled, Bean.class, Invalid.class)).hasMessageContaining("WEIR-110 ");
        check(disabled, Bean.class, Plain.class);
        assertThat(resourceMessages()).isEmpty();
    }

    @Path("plain")
    public static class Plain {
        @GET
        @RateLimit("api")
        public void get() {}

        @RateLimit(limit = "2/1h", key = "ip")
        public void own() {}
    }

    @Path("invalid")
    public static class Invalid {
        @GET
        @RateLimit("nowhere")
        public void missing() {}

        @RateLimit(limit = "5/soon")
        public void soon() {}

        @RateLimit("api")
        @RateLimitExempt
        public void both() {}

        @RateLimit(limit = "1/1h", key = "arg:user")
        public void argument() {}
    }

    @ApplicationScoped
    @Path("bean")
    public static class Bean {
        @RateLimit(value = "shared", limit = "2/1h")
        public void get() {}
    }

    @Path("twin")
    public static class Twin {
        @RateLimit(value = "shared", limit = "3/1h")
        public void get() {}
    }

    public static class NoResource {
        @RateLimit("nowhere")
        public void get() {}
    }
}
