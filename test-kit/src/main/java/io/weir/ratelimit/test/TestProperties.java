// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.config.ConfigProperties;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/** The configuration of a test. */
final class TestProperties {
    private static final String FILE = "META-INF/microprofile-config.properties";

    private TestProperties() {}

    /** Reads lines of the form {@code name=value}. */
    static Map<String, String> of(String[] lines) {
        Map<String, String> properties = new HashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("expected name=value instead of \"" + line + "\"");
            }
            properties.put(
                    line.substring(0, equals).strip(),
                    line.substring(equals + 1).strip());
        }
        return properties;
    }

    /** Returns properties over those of the files of a class path, of which the first file with a property takes precedence. */
    static ConfigProperties over(ClassLoader loader, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        try {
            for (Enumeration<URL> files = loader.getResources(FILE); files.hasMoreElements(); ) {
                read(files.nextElement()).forEach((name, value) -> {
                    if (isOfTests((String) name, (String) value)) {
                        all.putIfAbsent((String) name, (String) value);
                    }
                });
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ConfigProperties.of(all).withJoinedLists();
    }

    /** Tests whether a value of an application applies. Its environment has the secret and the Redis, and a test has no other values for them. */
    private static boolean isOfTests(String name, String value) {
        return !(name.startsWith("ratelimit.redis.") || name.equals("ratelimit.key-secret"))
                || ConfigProperties.Property.literal(value).readable();
    }

    private static Properties read(URL file) throws IOException {
        Properties properties = new Properties();
        try (InputStream in = file.openStream()) {
            properties.load(in);
        }
        return properties;
    }
}
