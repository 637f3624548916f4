// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.redisson.client.ClientVersion;
import io.weir.ratelimit.redisson.client.RedisSettings;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A version of Redisson before 4 is one numbered problem of the configuration, and no error of the class loader. */
class OlderClientTest {
    /** The build copies the jar there. */
    private static final Path OLDER = Path.of("target/older-redisson/redisson.jar");

    @Test
    void anOlderVersionIsAProblemOfTheConfiguration() throws Exception {
        try (URLClassLoader loader = olderClient()) {
            assertThat(invoke(loader))
                    .singleElement()
                    .asString()
                    .contains("WEIR-422", "3.52.0", "use Redisson 4.0 or later");
        }
    }

    @Test
    void theVersionOfTheBuildIsSupported() {
        assertThat(new TestConfig(Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:1")).validated())
                .isEmpty();
        assertThat(ClientVersion.problem("Redisson", null)).isEmpty();
        assertThat(ClientVersion.problem("Redisson", "another")).isEmpty();
        assertThat(ClientVersion.problem("Redisson", "4.0.0")).isEmpty();
        assertThat(ClientVersion.problem("Redisson", "10.1.0")).isEmpty();
        assertThat(ClientVersion.problem("Redisson", "2.15.2")).isPresent();
        assertThat(ClientVersion.problem("Application", "2.15.2")).isEmpty();
        assertThat(ClientVersion.problem(null, "2.15.2")).isEmpty();
    }

    /** Validates a configuration. Called in the other class loader. */
    static List<?> validate() {
        try (LogCapture log = new LogCapture()) {
            return new TestConfig(Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:1"))
                    .validated().stream().map(Object::toString).toList();
        }
    }

    private static List<?> invoke(ClassLoader loader) throws ReflectiveOperationException {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            Method validate = loader.loadClass(OlderClientTest.class.getName()).getDeclaredMethod("validate");
            validate.setAccessible(true);
            return (List<?>) validate.invoke(null);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    /** Returns a class loader of its own with the class path of the tests, except the version of Redisson. */
    private static URLClassLoader olderClient() throws IOException {
        List<URL> urls = new ArrayList<>();
        urls.add(OLDER.toRealPath().toUri().toURL());
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classes.split(File.pathSeparator)) {
            if (!Path.of(entry).getFileName().toString().matches("redisson-\\d.*\\.jar")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }
}
