// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.key.ForwardedHeader;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The settings that are not part of a policy.
 *
 * @param ipv4Prefix the number of leading bits of an IPv4 address that share a key
 * @param ipv6Prefix the number of leading bits of an IPv6 address that share a key
 * @param headers the header dialects of responses, in order
 * @param localMaxKeys the number of keys in process
 * @param reloadInterval the interval at which policies are reloaded, zero for never
 * @param instances the number of instances of the application; empty if it is learned
 * @param deadline the longest time that a decision waits for data outside the process
 * @param failsWhenDegraded whether an instance without its backend is not ready
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
        OptionalInt instances,
        Duration deadline,
        boolean failsWhenDegraded) {

    /** A destination of metrics. */
    public enum Metrics {
        /** MicroProfile Metrics if the server has it, otherwise OpenTelemetry if the server has it. */
        AUTO,
        MP,
        OTEL,
        NONE
    }

    /** Reads the settings, with the default in place of each invalid value. */
    public static Settings read(ConfigProperties config, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        return new Settings(
                reader.value(ConfigKeys.ENABLED),
                reader.value(ConfigKeys.BACKEND),
                reader.optional(
                        ConfigKeys.KEY_SECRET,
                        (secret, reason) -> MESSAGES.problem(
                                "WEIR-104", ConfigKeys.KEY_SECRET.name(), "***", ConfigKeys.MINIMUM_SECRET)),
                reader.value(ConfigKeys.IPV4_PREFIX),
                reader.value(ConfigKeys.IPV6_PREFIX),
                reader.value(ConfigKeys.TRUSTED_PROXIES),
                reader.value(ConfigKeys.FORWARDED_HEADER),
                reader.value(ConfigKeys.HEADERS),
                reader.value(ConfigKeys.LOCAL_MAX_KEYS),
                reader.value(ConfigKeys.METRICS),
                reader.value(ConfigKeys.RELOAD_INTERVAL),
                reader.value(ConfigKeys.INSTANCES),
                // An invalid deadline is reported with the problems of the backend.
                new ConfigReader(config, new Problems()).value(ConfigKeys.REDIS_DEADLINE),
                reader.value(
                        ConfigKeys.FAIL_WHEN_DEGRADED,
                        text -> MESSAGES.problem("WEIR-125", ConfigKeys.FAIL_WHEN_DEGRADED.name(), text)));
    }

    /** Tests whether the configuration is reloaded; false if limits are disabled or the interval is zero. */
    public boolean reloads() {
        return enabled && !reloadInterval.isZero();
    }

    /**
     * Returns the interval of reloads, or its default if it is zero: limits of single keys are cached for this time. Limits from a database
     * are refreshed even if the configuration is not reloaded.
     */
    public Duration overrideLifetime() {
        return reloadInterval.isZero()
                ? ConfigKeys.RELOAD_INTERVAL.defaultValue().orElseThrow()
                : reloadInterval;
    }

    /** Returns a text without the secret. */
    @Override
    public String toString() {
        return "Settings[enabled=" + enabled + ", backend=" + backend + ", keySecret="
                + (keySecret.isPresent() ? "***" : "none") + ", headers=" + headers + "]";
    }
}
