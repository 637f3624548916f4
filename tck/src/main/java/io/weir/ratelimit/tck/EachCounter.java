// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test that runs once per algorithm with a counter, which are all except the log. If a limit is lowered, permits beyond the new limit
 * count as the whole limit. In a log, all calls still count.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ParameterizedTest(name = "{0}")
@EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_LOG")
@interface EachCounter {}
