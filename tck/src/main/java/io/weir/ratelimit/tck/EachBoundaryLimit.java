// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * A test that runs once per algorithm and boundary limit. The numbers of {@code 9007199254/1s} and {@code 284/366d} are close to
 * 2<sup>53</sup>. {@code 10000/366d} has the most permits of a log, and the last limit has the most permits of any limit.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ParameterizedTest(name = "{1}/{2} {0}")
@ArgumentsSource(EachBoundaryLimit.BoundaryLimits.class)
@interface EachBoundaryLimit {

    /** The combinations of algorithm and limit. */
    final class BoundaryLimits implements ArgumentsProvider {
        private static final String[] LIMITS = {
            "1/PT0.001S",
            "7/PT0.001S",
            "7/PT1S",
            "3/PT10S",
            "100/PT1M",
            "30000/PT1S",
            "400000/PT1S",
            "1000003/PT1S",
            "1000000/PT24H",
            "1000000000/P30D",
            "9007199254/PT1S",
            "284/P366D",
            "10000/P366D",
            "1/P366D",
            "281474976710654/PT1S"
        };

        @Override
        public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
            return Arrays.stream(Algorithm.values())
                    .flatMap(algorithm -> Arrays.stream(LIMITS)
                            .map(limit -> limit.split("/"))
                            .filter(parts -> Long.parseLong(parts[0]) <= RandomLimits.maxPermits(algorithm))
                            .map(parts -> Arguments.of(algorithm, Long.valueOf(parts[0]), Duration.parse(parts[1]))));
        }
    }
}
