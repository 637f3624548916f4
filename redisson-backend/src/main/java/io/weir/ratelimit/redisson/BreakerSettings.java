// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.redisson.client.RedisProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The settings of the breaker. They are the properties of MicroProfile Fault Tolerance for {@link RedisGuard#call}: those of the method
 * come first, then those of all breakers.
 *
 * @param volume the number of failures in a row that open the breaker, 1 or more
 * @param delay the longest time between two probes, and that of the platform's breaker, zero to 365 days
 * @param successes the number of successful probes that close the breaker, 1 or more
 * @param firstDelay the time between the opening and the first probe, and between two probes, at most the delay
 */
record BreakerSettings(boolean enabled, int volume, Duration delay, int successes, Duration firstDelay) {
    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);

    /** The values of the annotation of {@link RedisGuard#call}, whose unit of the delay is the millisecond. */
    static final BreakerSettings DEFAULT = new BreakerSettings(true, 5, Duration.ofSeconds(30), 1);

    /** A breaker that never opens. */
    static final BreakerSettings OFF = new BreakerSettings(false, 5, Duration.ofSeconds(30), 1);

    /** Creates settings with the default first delay. */
    BreakerSettings(boolean enabled, int volume, Duration delay, int successes) {
        this(enabled, volume, delay, successes, delay.compareTo(FIRST_DELAY) < 0 ? delay : FIRST_DELAY);
    }

    private static final Duration MAX_DELAY = Duration.ofDays(365);

    private static final String OF_ALL = "CircuitBreaker/";
    private static final String OF_CLASS = "io.weir.ratelimit.redisson.RedisGuard/" + OF_ALL;
    private static final String OF_METHOD = "io.weir.ratelimit.redisson.RedisGuard/call/" + OF_ALL;
    private static final List<String> ENABLED = List.of(
            OF_METHOD + "enabled", OF_CLASS + "enabled", OF_ALL + "enabled", "MP_Fault_Tolerance_NonFallback_Enabled");

    /** The texts that MicroProfile Config reads as true. It reads all others as false. */
    private static final Set<String> TRUE = Set.of("true", "1", "yes", "y", "on");

    static BreakerSettings read(RedisProperties config, List<ConfigurationProblem> problems) {
        boolean enabled = ENABLED.stream()
                .flatMap(name -> config.get(name).stream())
                .findFirst()
                .map(text -> TRUE.contains(text.strip().toLowerCase(Locale.ROOT)))
                .orElse(true);
        Reader reader = new Reader(config, problems);
        ChronoUnit unit =
                reader.read("delayUnit", ChronoUnit.MILLIS, "a unit such as MILLIS or SECONDS", Reader::exactUnit);
        long longest = MAX_DELAY.dividedBy(unit.getDuration());
        long delay = reader.read(
                "delay",
                DEFAULT.delay.toMillis(),
                "a whole number, 0 or more, of at most 365 days",
                text -> Reader.fromZero(text).filter(number -> number <= longest));
        return new BreakerSettings(
                enabled,
                reader.read("requestVolumeThreshold", DEFAULT.volume, "a whole number, 1 or more", Reader::fromOne),
                Duration.of(delay, unit),
                reader.read("successThreshold", DEFAULT.successes, "a whole number, 1 or more", Reader::fromOne));
    }

    /** Returns whether a delay is that of the platform's breaker. */
    boolean isLongest(long delayNanos) {
        return delayNanos >= delay.toNanos();
    }

    private record Reader(RedisProperties config, List<ConfigurationProblem> problems) {

        <T> T read(String parameter, T otherwise, String form, Function<String, Optional<T>> parse) {
            for (String name : List.of(OF_METHOD + parameter, OF_ALL + parameter)) {
                Optional<String> text = config.get(name).map(String::strip);
                if (text.isPresent()) {
                    Optional<T> parsed = parsed(text.get(), parse);
                    if (parsed.isEmpty()) {
                        problems.add(MESSAGES.problem("WEIR-415", name, text.get(), form));
                    }
                    return parsed.orElse(otherwise);
                }
            }
            return otherwise;
        }

        private static <T> Optional<T> parsed(String text, Function<String, Optional<T>> parse) {
            try {
                return parse.apply(text);
            } catch (RuntimeException e) {
                return Optional.empty();
            }
        }

        /** Parses a unit that always has the same length. */
        static Optional<ChronoUnit> exactUnit(String text) {
            return Optional.of(ChronoUnit.valueOf(text.toUpperCase(Locale.ROOT)))
                    .filter(unit -> !unit.isDurationEstimated() || unit == ChronoUnit.DAYS);
        }

        static Optional<Integer> fromOne(String text) {
            return Optional.of(new BigDecimal(text).intValueExact()).filter(number -> number >= 1);
        }

        static Optional<Long> fromZero(String text) {
            return Optional.of(new BigDecimal(text).longValueExact()).filter(number -> number >= 0);
        }
    }
}
