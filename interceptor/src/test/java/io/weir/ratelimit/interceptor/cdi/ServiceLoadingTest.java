// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.interceptor.rest.RateLimitFeature;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Application;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ServiceLoadingTest {
    /** An application with properties and classes. */
    abstract static class Configured extends Application {
        private final Map<String, Object> properties;
        private final Set<Class<?>> classes;

        Configured(Map<String, Object> properties, Class<?>... classes) {
            this.properties = properties;
            this.classes = Set.of(classes);
        }

        @Override
        public Map<String, Object> getProperties() {
            return properties;
        }

        @Override
        public Set<Class<?>> getClasses() {
            return classes;
        }
    }

    @ApplicationScoped
    public static class Listed extends Application {
        @Override
        public Map<String, Object> getProperties() {
            return Map.of("jakarta.ws.rs.loadServices", false);
        }

        @Override
        public Set<Class<?>> getClasses() {
            return Set.of(String.class);
        }
    }

    static class OfText extends Configured {
        OfText() {
            super(Map.of("jakarta.ws.rs.loadServices", "False"), String.class);
        }
    }

    static class OfJersey extends Configured {
        OfJersey() {
            super(Map.of("jersey.config.server.disableMetainfServicesLookup", true), String.class);
        }
    }

    static class WithTheFeature extends Configured {
        WithTheFeature() {
            super(Map.of("jakarta.ws.rs.loadServices", false), String.class, RateLimitFeature.class);
        }
    }

    static class Scanned extends Configured {
        Scanned() {
            super(Map.of("jakarta.ws.rs.loadServices", false));
        }
    }

    static class Loading extends Configured {
        Loading() {
            super(Map.of("jakarta.ws.rs.loadServices", true), String.class);
        }
    }

    static class Failing extends Configured {
        Failing() {
            super(Map.of());
            throw new IllegalStateException("not now");
        }
    }

    static class WithoutProperties extends Application {
        WithoutProperties() {
            throw new AssertionError("created without need");
        }
    }

    static class OfResourceConfig extends ResourceConfig {
        static int constructed;

        OfResourceConfig() {
            constructed++;
        }
    }

    private static List<String> places(Class<?>... classes) {
        return ServiceLoading.withoutLimits(Set.of(classes)).stream()
                .map(MessageCatalog.Message::text)
                .map(text -> text.replaceAll(
                        "(?s)^WEIR-024 The REST application \\S*\\$(\\w+) lists its classes and sets (\\S+), so.*",
                        "$1 $2"))
                .sorted()
                .toList();
    }

    @Tag("field")
    @Test
    void reportsListedApplicationsThatLoadNoServices() {
        assertThat(places(
                        Listed.class,
                        OfText.class,
                        OfJersey.class,
                        WithTheFeature.class,
                        Scanned.class,
                        Loading.class,
                        Failing.class,
                        WithoutProperties.class,
                        Application.class,
                        String.class))
                .containsExactly(
                        "Listed jakarta.ws.rs.loadServices=false",
                        "OfJersey jersey.config.server.disableMetainfServicesLookup=true",
                        "OfText jakarta.ws.rs.loadServices=False");
    }

    @Test
    void aResourceConfigOfJerseyIsNotConstructed() {
        assertThat(places(OfResourceConfig.class)).isEmpty();
        assertThat(OfResourceConfig.constructed).isZero();
    }

    @Tag("field")
    @Test
    void theStartLogsAnErrorWithTheRemedy() {
        assertThat(ServiceLoading.withoutLimits(Set.of(Listed.class)))
                .extracting(MessageCatalog.Message::level)
                .containsExactly(Level.ERROR);
        try (LogCapture log = new LogCapture()) {
            Container.start(config("ratelimit.policies.api.limit=1/1h"), Listed.class)
                    .close();
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-024"))
                    .singleElement()
                    .asString()
                    .startsWith("SEVERE")
                    .contains(RateLimitFeature.class.getName());
        }
    }

    @Test
    void anApplicationWithoutPoliciesIsNotReported() {
        try (LogCapture log = new LogCapture()) {
            Container.start(config(), Listed.class).close();
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-024"));
        }
    }
}
