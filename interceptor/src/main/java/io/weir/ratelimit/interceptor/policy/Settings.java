// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.interceptor.key.AddressRange;
import io.weir.ratelimit.interceptor.key.ForwardedHeader;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import org.eclipse.microprofile.config.Config;

/**
 * The settings beside the policies.
 *
 * @param enabled whether anything is limited at all
 * @param backend the name of the store, or {@code auto}
 * @param keySecret the secret under which identifiers in stored keys are hashed
 * @param ipv4Prefix how many leading bits of an IPv4 address share a key
 * @param ipv6Prefix how many leading bits of an IPv6 address share a key
 * @param trustedProxies the addresses of the proxies that are believed about their own peers
 * @param forwardedHeader the header in which they tell
 * @param headers the header dialects that answers carry, in order
 * @param localMaxKeys how many keys are kept in process
 * @param metrics where metrics go
 * @param reloadInterval how often policies are read again, zero if never
 * @param instances how many instances of the application run
 * @param deadline the longest that a decision waits for what is not in process
 * @param failsWhenDegraded whether an instance without its store is not ready
 * @param console who may see the operators' page
 */
public record Settings(
        boolean enabled,
        String backend,
        Optional<String> keySecret,
        int ipv4Prefix,
        int ipv6Prefix,
        List<AddressRange> trustedProxies,
        ForwardedHeader forwardedHeader,
        List<String> headers,
        int localMaxKeys,
        Metrics metrics,
        Duration reloadInterval,
        int instances,
        Duration deadline,
        boolean failsWhenDegraded,
        ConsoleSettings console) {

    /** Where metrics go. */
    public enum Metrics {
        /** To MicroProfile Metrics if the server has it, else to OpenTelemetry if that is there. */
        AUTO,
        /** To MicroProfile Metrics. */
        MP,
        /** To OpenTelemetry. */
        OTEL,
        /** Nowhere. */
        NONE;

        private static Metrics parse(String text) {
            return Arrays.stream(values())
                    .filter(value -> value.name().toLowerCase(Locale.ROOT).equals(text))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("must be auto, mp, otel or none"));
        }
    }

    /** The least number of characters of a secret. */
    private static final int LEAST_SECRET = 16;

    private static final String DEADLINE = "ratelimit.redis.deadline";
    private static final String FAIL_WHEN_DEGRADED = "ratelimit.health.fail-when-degraded";
    private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(5);
    private static final Duration LEAST_INTERVAL = Duration.ofSeconds(1);
    private static final Duration MOST_INTERVAL = Duration.ofHours(1);
    private static final List<String> DIALECTS = List.of("ietf", "draft-06", "legacy");

    /**
     * Reads the settings.
     *
     * @param config where from
     * @param problems takes what is wrong
     * @return the settings, with the default in place of each wrong one
     */
    public static Settings read(Config config, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        return new Settings(
                reader.flag("ratelimit.enabled", true),
                reader.text("ratelimit.backend").orElse("auto"),
                keySecret(reader, problems),
                reader.number("ratelimit.ipv4-prefix", 32, 1, 32),
                reader.number("ratelimit.ipv6-prefix", 64, 1, 128),
                reader.value("ratelimit.trusted-proxies", List.of(), AddressRange::parseAll),
                reader.value("ratelimit.forwarded-header", ForwardedHeader.X_FORWARDED_FOR, ForwardedHeader::parse),
                reader.value("ratelimit.headers", List.of("ietf", "legacy"), Settings::dialects),
                reader.number("ratelimit.local.max-keys", 100_000, 1, 100_000_000),
                reader.value("ratelimit.metrics", Metrics.AUTO, Metrics::parse),
                reader.value("ratelimit.reload-interval", DEFAULT_INTERVAL, Settings::interval),
                reader.number("ratelimit.instances", 1, 1, 10_000),
                // What is wrong with it is the store's to say.
                new ConfigReader(config, new Problems()).value(DEADLINE, Duration.ofMillis(100), Durations::parse),
                failsWhenDegraded(reader, problems),
                ConsoleSettings.read(reader, problems));
    }

    private static boolean failsWhenDegraded(ConfigReader reader, Problems problems) {
        String text = reader.text(FAIL_WHEN_DEGRADED).orElse("false");
        if (!text.equals("true") && !text.equals("false")) {
            problems.add(
                    "WEIR-125",
                    FAIL_WHEN_DEGRADED,
                    text,
                    "must be true or false",
                    "use true where an instance without its store must get no requests, else leave it out");
        }
        return text.equals("true");
    }

    private static Duration interval(String text) {
        Duration interval = Durations.parse(text);
        if (!interval.isZero() && (interval.compareTo(LEAST_INTERVAL) < 0 || interval.compareTo(MOST_INTERVAL) > 0)) {
            throw new IllegalArgumentException("must be from 1s to 1h, or 0s for never");
        }
        return interval;
    }

    private static Optional<String> keySecret(ConfigReader reader, Problems problems) {
        Optional<String> secret = reader.text("ratelimit.key-secret");
        if (secret.filter(text -> text.length() < LEAST_SECRET).isPresent()) {
            problems.add(
                    "WEIR-104",
                    "ratelimit.key-secret",
                    "***",
                    "is shorter than " + LEAST_SECRET + " characters",
                    "use 32 random characters or more");
        }
        return secret;
    }

    private static List<String> dialects(String text) {
        List<String> names =
                Arrays.stream(text.split(",")).map(String::strip).distinct().toList();
        if (names.equals(List.of("none"))) {
            return List.of();
        }
        if (names.isEmpty() || names.stream().anyMatch(Predicate.not(DIALECTS::contains))) {
            throw new IllegalArgumentException("must be none, or some of " + String.join(", ", DIALECTS));
        }
        return names;
    }

    /**
     * Whether configuration is read again.
     *
     * @return false if nothing is limited, or never
     */
    public boolean reloads() {
        return enabled && !reloadInterval.isZero();
    }

    /**
     * How long what a source answered about a key holds. That files are never read again does not make a database's answers last.
     *
     * @return the interval of reloads, or the default one if there are none
     */
    public Duration answersHoldFor() {
        return reloadInterval.isZero() ? DEFAULT_INTERVAL : reloadInterval;
    }

    /** Does not show the secret. */
    @Override
    public String toString() {
        return "Settings[enabled=" + enabled + ", backend=" + backend + ", keySecret="
                + (keySecret.isPresent() ? "***" : "none") + ", headers=" + headers + "]";
    }
}
