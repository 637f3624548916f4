// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * The settings of the shared store, with what is wrong in them.
 *
 * @param namespace separates applications that share a Redis
 * @param deadline the longest that a request waits for Redis
 * @param client how to connect; empty if nothing says so
 * @param problems what is wrong
 */
record RedisSettings(
        String namespace, Duration deadline, Optional<Config> client, List<ConfigurationProblem> problems) {
    static final String ADDRESS = "ratelimit.redis.address";
    static final String CONFIG = "ratelimit.redis.config";
    private static final String NAMESPACE = "ratelimit.namespace";
    private static final String DEADLINE = "ratelimit.redis.deadline";
    private static final Pattern NAMESPACE_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Pattern DEADLINE_FORM = Pattern.compile("(\\d{1,5})(ms|s)");

    /**
     * Reads the settings.
     *
     * @param config where from
     * @param ownClient whether the application brings its own client
     * @return the settings
     */
    static RedisSettings read(org.eclipse.microprofile.config.Config config, boolean ownClient) {
        List<ConfigurationProblem> problems = new ArrayList<>();
        Optional<String> address =
                config.getOptionalValue(ADDRESS, String.class).map(String::strip);
        Optional<String> location =
                config.getOptionalValue(CONFIG, String.class).map(String::strip);
        Optional<Config> client = Optional.empty();
        if (address.isPresent() && location.isPresent()) {
            problems.add(new ConfigurationProblem(
                    "WEIR-401", CONFIG, location.get(), "stands beside " + ADDRESS, "keep one of the two"));
        } else if (address.isPresent()) {
            client = RedisServers.read(address.get(), ADDRESS, problems).map(servers -> forScripts(servers.config()));
        } else if (location.isPresent()) {
            client = yaml(location.get(), problems);
        } else if (!ownClient) {
            problems.add(new ConfigurationProblem(
                    "WEIR-402",
                    ADDRESS,
                    "",
                    "the store is redisson, but no Redis is configured",
                    "set " + ADDRESS + " = redis://host:6379, or produce a RedissonClient"));
        }
        return new RedisSettings(
                namespace(config, problems), deadline(config, problems), client, List.copyOf(problems));
    }

    private static Optional<Config> yaml(String location, List<ConfigurationProblem> problems) {
        try (InputStream in = open(location)) {
            return Optional.of(forScripts(Config.fromYAML(in)));
        } catch (IOException | InvalidPathException e) {
            problems.add(new ConfigurationProblem(
                    "WEIR-404",
                    CONFIG,
                    location,
                    "there is no such file or resource",
                    "write the path of a file, or classpath:<resource>"));
        } catch (RuntimeException e) {
            // The parser's message quotes the file, and with it passwords.
            problems.add(new ConfigurationProblem(
                    "WEIR-405",
                    CONFIG,
                    location,
                    "is no Redisson configuration (" + e.getClass().getSimpleName() + ")",
                    "see Redisson's documentation of its YAML format"));
        }
        return Optional.empty();
    }

    /**
     * The default codec needs jars that scripts, which are all that runs here, do not. Without the client's cache of scripts, one
     * that Redis has lost is sent with its source in one step, which cannot fail for want of it again.
     */
    private static Config forScripts(Config config) {
        return config.setCodec(ByteArrayCodec.INSTANCE).setUseScriptCache(false).setLazyInitialization(true);
    }

    private static InputStream open(String location) throws IOException {
        String prefix = "classpath:";
        if (location.startsWith(prefix)) {
            URL resource =
                    Thread.currentThread().getContextClassLoader().getResource(location.substring(prefix.length()));
            if (resource == null) {
                throw new IOException("no resource " + location);
            }
            return resource.openStream();
        }
        return Files.newInputStream(Path.of(location));
    }

    private static String namespace(
            org.eclipse.microprofile.config.Config config, List<ConfigurationProblem> problems) {
        String namespace = config.getOptionalValue(NAMESPACE, String.class)
                .orElse("default")
                .strip();
        if (!NAMESPACE_FORM.matcher(namespace).matches()) {
            problems.add(new ConfigurationProblem(
                    "WEIR-407",
                    NAMESPACE,
                    namespace,
                    "is no namespace",
                    "use 1 to 64 of the characters A-Z a-z 0-9 . _ -"));
        }
        return namespace;
    }

    private static Duration deadline(
            org.eclipse.microprofile.config.Config config, List<ConfigurationProblem> problems) {
        String text =
                config.getOptionalValue(DEADLINE, String.class).orElse("100ms").strip();
        Matcher matcher = DEADLINE_FORM.matcher(text);
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group(1));
            Duration deadline = matcher.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
            if (deadline.toMillis() >= 1 && deadline.toMillis() <= 60_000) {
                return deadline;
            }
        }
        problems.add(new ConfigurationProblem(
                "WEIR-408", DEADLINE, text, "is no deadline", "write a duration from 1ms to 60s, such as 100ms"));
        return Duration.ofMillis(100);
    }

    /** Does not show how to connect, which holds passwords. */
    @Override
    public String toString() {
        return "RedisSettings[namespace=" + namespace + ", deadline=" + deadline + "]";
    }
}
