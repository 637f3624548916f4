// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Properties;

/** The machine and the versions of the measurement. */
final class Machine {
    private Machine() {}

    static String description(RedisUnderTest redis) {
        return String.format(
                Locale.ROOT,
                "%d processors (load %.1f at the start), %s, JDK %s; %s; Redisson %s, Bucket4j %s, Lettuce %s",
                Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                System.getProperty("os.name"),
                Runtime.version(),
                redis.description(),
                version("org.redisson/redisson"),
                version("com.bucket4j/bucket4j_jdk17-core"),
                version("io.lettuce/lettuce-core"));
    }

    private static String version(String artifact) {
        String path = "/META-INF/maven/" + artifact + "/pom.properties";
        try (InputStream in = Machine.class.getResourceAsStream(path)) {
            Properties properties = new Properties();
            if (in != null) {
                properties.load(in);
            }
            return properties.getProperty("version", "of unknown version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
