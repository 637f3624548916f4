// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.Await;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sources of an application that lose their properties, or do not list all of them. */
class ConfigurationSourcesTest {
    private static final String MARKER = "ratelimit.policies.marker.limit";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class)
                    .addClasses(Store.class, WithoutNames.class, Partial.class)
                    .addAsServiceProvider(ConfigSource.class, Store.class, WithoutNames.class, Partial.class)
                    .addAsResource(new StringAsset("""
                            ratelimit.policies.stored.limit=2/1h
                            %test.ratelimit.policies.stored.limit=${permits}/1h
                            permits=1
                            """), "application.properties")
                    .addAsResource(new StringAsset("""
                            ratelimit.policies.stored.key=header:X-Client
                            """), "application-test.properties"))
            .overrideConfigKey("ratelimit.reload-interval", "1s")
            .setLogRecordPredicate(line -> line.getLoggerName().equals("io.weir.ratelimit"))
            .assertLogRecords(ConfigurationSourcesTest::verifyLog);

    @Inject
    RateLimiter limiter;

    @TestHTTPResource
    URI base;

    private static void verifyLog(List<LogRecord> records) {
        List<String> lines = records.stream()
                .map(line -> line.getLevel() + " " + new SimpleFormatter().formatMessage(line))
                .toList();
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).contains("configuration sources without names: without-names"))
                .anySatisfy(line -> assertThat(line).contains("WEIR-016 Configuration sources [without-names] list"))
                .anySatisfy(line -> assertThat(line).contains("WEIR-324 configuration source store: "))
                .anySatisfy(line -> assertThat(line).contains("WEIR-326", "partial"))
                .noneSatisfy(line -> assertThat(line).contains("WEIR-311"));
    }

    @Test
    @Tag("field")
    void thePropertiesOfAnEmptySourceStayInForce() {
        Client client = new Client(base);
        Store.PROPERTIES.putAll(Map.of(
                "ratelimit.policies.stored.paths[0]", "/sources/none",
                "ratelimit.policies.stored.paths[1]", "/sources/stored"));
        awaitReload(7);
        assertThat(client.get("sources/stored").statusCode()).isEqualTo(200);
        assertThat(client.get("sources/stored").statusCode()).isEqualTo(429);

        Store.PROPERTIES.clear();
        awaitReload(8);
        assertThat(client.get("sources/stored").statusCode()).isEqualTo(429);

        Store.PROPERTIES.put("ratelimit.policies.stored.paths[0]", "/sources/other");
        awaitReload(9);
        assertThat(client.get("sources/stored").statusCode()).isEqualTo(200);
        assertThat(client.get("sources/other").statusCode()).isEqualTo(429);
        assertThat(limiter.peek("built", Identity.GLOBAL))
                .as("recorded by the build")
                .hasSize(1);
    }

    /** Changes another source, and waits until the change applies. */
    private void awaitReload(int permits) {
        System.setProperty(MARKER, permits + "/1h");
        Await.until(
                "a reload",
                Duration.ofSeconds(30),
                () -> limiter.peek("marker", Identity.GLOBAL).get(0).permits() == permits);
        System.clearProperty(MARKER);
    }

    @Path("sources")
    public static class Resources {
        @GET
        @Path("stored")
        public String stored() {
            return "stored";
        }

        @GET
        @Path("other")
        public String other() {
            return "other";
        }
    }

    /** A source whose properties change. */
    public static class Store implements ConfigSource {
        static final Map<String, String> PROPERTIES =
                new ConcurrentHashMap<>(Map.of("ratelimit.policies.built.limit", "1/1h"));

        @Override
        public Set<String> getPropertyNames() {
            return Set.copyOf(PROPERTIES.keySet());
        }

        @Override
        public String getValue(String name) {
            return PROPERTIES.get(name);
        }

        @Override
        public String getName() {
            return "store";
        }
    }

    /** A source that lists no names. */
    public static class WithoutNames implements ConfigSource {
        @Override
        public Set<String> getPropertyNames() {
            return Set.of();
        }

        @Override
        public String getValue(String name) {
            return name.equals("ratelimit.policies.marker.key") ? "global" : null;
        }

        @Override
        public String getName() {
            return "without-names";
        }
    }

    /** A source that lists only some of its names. */
    public static class Partial implements ConfigSource {
        @Override
        public Set<String> getPropertyNames() {
            return Set.of(MARKER);
        }

        @Override
        public String getValue(String name) {
            return switch (name) {
                case MARKER -> "6/1h";
                case "ratelimit.policies.marker.algorithm" -> "fixed-window";
                default -> null;
            };
        }

        @Override
        public String getName() {
            return "partial";
        }
    }
}
