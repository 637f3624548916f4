// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A test that runs once per algorithm and limit, over limits that are hard to count exactly: {@code 9007199254/1s} and
 * {@code 284/366d} nearly fill 2<sup>53</sup>, the last one is the most that a limit may have.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ParameterizedTest(name = "{1}/{2} {0}")
@CsvSource({
    "SLIDING_WINDOW, 1, PT0.001S",
    "SLIDING_WINDOW, 7, PT0.001S",
    "SLIDING_WINDOW, 7, PT1S",
    "SLIDING_WINDOW, 3, PT10S",
    "SLIDING_WINDOW, 100, PT1M",
    "SLIDING_WINDOW, 1000003, PT1S",
    "SLIDING_WINDOW, 1000000, PT24H",
    "SLIDING_WINDOW, 1000000000, P30D",
    "SLIDING_WINDOW, 9007199254, PT1S",
    "SLIDING_WINDOW, 284, P366D",
    "SLIDING_WINDOW, 1, P366D",
    "SLIDING_WINDOW, 281474976710654, PT1S",
    "TOKEN_BUCKET, 1, PT0.001S",
    "TOKEN_BUCKET, 7, PT0.001S",
    "TOKEN_BUCKET, 7, PT1S",
    "TOKEN_BUCKET, 3, PT10S",
    "TOKEN_BUCKET, 100, PT1M",
    "TOKEN_BUCKET, 1000003, PT1S",
    "TOKEN_BUCKET, 1000000, PT24H",
    "TOKEN_BUCKET, 1000000000, P30D",
    "TOKEN_BUCKET, 9007199254, PT1S",
    "TOKEN_BUCKET, 284, P366D",
    "TOKEN_BUCKET, 1, P366D",
    "TOKEN_BUCKET, 281474976710654, PT1S"
})
@interface EachEdge {}
