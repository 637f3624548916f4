// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.eclipse.microprofile.config.Config;

/**
 * How the breaker is tuned, by the properties that MicroProfile Fault Tolerance has for {@link RedisGuard#call}: those of the method
 * first, then those of all breakers.
 *
 * @param enabled whether there is a breaker
 * @param volume how many calls in a row fail before it opens, 1 or more
 * @param delay how long it stays open before one call finds out whether Redis is back, zero to 365 days
 * @param successes how many such calls must succeed before it closes, 1 or more
 */
record BreakerSettings(boolean enabled, int volume, Duration delay, int successes) {
    /** What the annotation of {@link RedisGuard#call} says. */
    static final BreakerSettings DEFAULT = new BreakerSettings(true, 5, Duration.ofSeconds(30), 1);

    /** No breaker. */
    static final BreakerSettings OFF = new BreakerSettings(false, 5, Duration.ofSeconds(30), 1);

    private static final Duration LONGEST_DELAY = Duration.ofDays(365);

    private static final String OF_ALL = "CircuitBreaker/";
    private static final String OF_CLASS = "io.weir.ratelimit.redisson.RedisGuard/" + OF_ALL;
    private static final String OF_METHOD = "io.weir.ratelimit.redisson.RedisGuard/call/" + OF_ALL;
    private static final List<String> ENABLED = List.of(
            OF_METHOD + "enabled", OF_CLASS + "enabled", OF_ALL + "enabled", "MP_Fault_Tolerance_NonFallback_Enabled");

    /** What MicroProfile Config takes for true; all else is false to it. */
    private static final Set<String> TRUE = Set.of("true", "1", "yes", "y", "on");

    static BreakerSettings read(Config config, List<ConfigurationProblem> problems) {
        boolean enabled = ENABLED.stream()
                .flatMap(name -> config.getOptionalValue(name, String.class).stream())
                .findFirst()
                .map(text -> TRUE.contains(text.strip().toLowerCase(Locale.ROOT)))
                .orElse(true);
        Reader reader = new Reader(config, problems);
        ChronoUnit unit =
                reader.read("delayUnit", ChronoUnit.SECONDS, "a unit such as MILLIS or SECONDS", Reader::exactUnit);
        long longest = LONGEST_DELAY.dividedBy(unit.getDuration());
        long delay = reader.read(
                "delay",
                DEFAULT.delay.toSeconds(),
                "a whole number from 0, 365 days at most",
                text -> Reader.fromZero(text).filter(number -> number <= longest));
        return new BreakerSettings(
                enabled,
                reader.read("requestVolumeThreshold", DEFAULT.volume, "a whole number from 1", Reader::fromOne),
                Duration.of(delay, unit),
                reader.read("successThreshold", DEFAULT.successes, "a whole number from 1", Reader::fromOne));
    }

    private record Reader(Config config, List<ConfigurationProblem> problems) {

        <T> T read(String parameter, T otherwise, String wanted, Function<String, Optional<T>> parse) {
            for (String name : List.of(OF_METHOD + parameter, OF_ALL + parameter)) {
                Optional<String> text =
                        config.getOptionalValue(name, String.class).map(String::strip);
                if (text.isPresent()) {
                    Optional<T> parsed = parsed(text.get(), parse);
                    if (parsed.isEmpty()) {
                        problems.add(new ConfigurationProblem(
                                "WEIR-415", name, text.get(), "does not fit the breaker", "write " + wanted));
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

        /** A unit that has the same length always. */
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
