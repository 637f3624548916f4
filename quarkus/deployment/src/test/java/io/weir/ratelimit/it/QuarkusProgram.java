// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestPorts;
import java.io.File;
import java.net.URI;
import java.util.Map;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A program of Quarkus with the resources of a package of the servers, and with a Redis for a test with the tag {@code redis}. Its tests
 * are clients outside of it, because Quarkus calls no test that a class inherits from an interface.
 */
final class QuarkusProgram implements BeforeAllCallback, AfterAllCallback {
    private static final String PORT = "quarkus.http.test-port";
    private static final String ANY = "0";

    private final String name;
    private final Map<String, String> properties;
    private final Class<?>[] sources;
    private @Nullable RedisProcess redis;
    private @Nullable QuarkusUnitTest program;
    private int port;

    /**
     * Describes a program, which is not started. Quarkus creates an instance of the test, too, and so another one of this class.
     *
     * @param properties the properties of Quarkus
     * @param sources the config sources of the application
     */
    QuarkusProgram(String name, Map<String, String> properties, Class<?>... sources) {
        this.name = name;
        this.properties = properties;
        this.sources = sources;
    }

    /** Returns the root of the program, which has a path like the context root of a server. */
    URI base() {
        return URI.create("http://127.0.0.1:" + port + "/test/");
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        File configuration = new File("../../it-tests/src/test/resources/" + name + "/microprofile-config.properties");
        port = TestPorts.next();
        QuarkusUnitTest described = new QuarkusUnitTest()
                .withApplicationRoot(jar -> jar.addPackage(QuarkusProgram.class.getPackage())
                        .addPackage(QuarkusProgram.class.getPackageName() + "." + name)
                        .addAsServiceProvider(ConfigSource.class, sources)
                        .addAsResource(configuration, "META-INF/microprofile-config.properties"))
                .overrideConfigKey("quarkus.http.root-path", "/test");
        properties.forEach(described::overrideConfigKey);
        if (context.getTags().contains("redis")) {
            redis = RedisProcess.started();
            described
                    .overrideConfigKey("ratelimit.redis.address", redis.address())
                    .overrideConfigKey("ratelimit.redis.deadline", "30s");
        }
        program = described;
        System.setProperty(PORT, Integer.toString(port));
        described.beforeAll(context);
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        System.setProperty(PORT, ANY);
        try (RedisProcess started = redis) {
            redis = null;
            if (program != null) {
                program.afterAll(context);
            }
            if (started != null) {
                try (RedisConnection connection = started.connect()) {
                    assertThat(connection.calls("evalsha"))
                            .as("decisions in Redis")
                            .isPositive();
                }
            }
        }
    }
}
