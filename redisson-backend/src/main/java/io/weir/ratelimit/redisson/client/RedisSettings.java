// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

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

/** The settings of the Redis backend, with their problems. The configuration of the client is empty if none is set. */
public record RedisSettings(
        String namespace, Duration deadline, Optional<Config> client, List<ConfigurationProblem> problems) {
    public static final String ADDRESS = AddressProperty.NAME;
    public static final String CONFIG = "ratelimit.redis.config";
    private static final String NAMESPACE = "ratelimit.namespace";
    private static final String DEADLINE = "ratelimit.redis.deadline";
    private static final Pattern NAMESPACE_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Pattern DEADLINE_FORM = Pattern.compile("(\\d{1,5})(ms|s)");

    /** Reads the settings. The application can provide a client. */
    public static RedisSettings read(RedisProperties config, boolean applicationClient) {
        List<ConfigurationProblem> problems = new ArrayList<>();
        AddressProperty address = AddressProperty.of(config);
        Optional<String> location = config.get(CONFIG).map(String::strip);
        Optional<Config> client = Optional.empty();
        if (address.isPresent() && location.isPresent()) {
            problems.add(MESSAGES.problem("WEIR-401", CONFIG, location.get(), ADDRESS));
        } else if (address.isPresent()) {
            client = address.servers(problems).map(servers -> forScripts(servers.config()));
        } else if (location.isPresent()) {
            client = yaml(location.get(), problems);
        } else if (!applicationClient) {
            problems.add(MESSAGES.problem("WEIR-402", ADDRESS, "", ADDRESS));
        }
        return new RedisSettings(
                namespace(config, problems), deadline(config, problems), client, List.copyOf(problems));
    }

    private static Optional<Config> yaml(String location, List<ConfigurationProblem> problems) {
        try (InputStream in = open(location)) {
            return Optional.of(forScripts(Config.fromYAML(in)));
        } catch (IOException | InvalidPathException e) {
            problems.add(MESSAGES.problem("WEIR-404", CONFIG, location));
        } catch (RuntimeException e) {
            // The message of the parser quotes the file, which may contain passwords.
            problems.add(
                    MESSAGES.problem("WEIR-405", CONFIG, location, e.getClass().getSimpleName()));
        }
        return Optional.empty();
    }

    /**
     * Adapts a configuration to scripts. The default codec needs jars that scripts do not need. Without its script cache the client sends
     * a script that Redis has lost with its source, in one step that cannot fail for the same reason again.
     */
    private static Config forScripts(Config config) {
        return config.setCodec(ByteArrayCodec.INSTANCE)
                .setUseScriptCache(false)
                .setLazyInitialization(true)
                .setNettyHook(new ClientChecks(config.getNettyHook()));
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

    private static String namespace(RedisProperties config, List<ConfigurationProblem> problems) {
        String namespace = config.get(NAMESPACE).orElse("default").strip();
        if (!NAMESPACE_FORM.matcher(namespace).matches()) {
            problems.add(MESSAGES.problem("WEIR-407", NAMESPACE, namespace));
        }
        return namespace;
    }

    private static Duration deadline(RedisProperties config, List<ConfigurationProblem> problems) {
        String text = config.get(DEADLINE).orElse("100ms").strip();
        Matcher matcher = DEADLINE_FORM.matcher(text);
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group(1));
            Duration deadline = matcher.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
            if (deadline.toMillis() >= 1 && deadline.toMillis() <= 60_000) {
                return deadline;
            }
        }
        problems.add(MESSAGES.problem("WEIR-408", DEADLINE, text));
        return Duration.ofMillis(100);
    }

    /** Does not contain the configuration of the client, which has passwords. */
    @Override
    public String toString() {
        return "RedisSettings[namespace=" + namespace + ", deadline=" + deadline + "]";
    }
}
