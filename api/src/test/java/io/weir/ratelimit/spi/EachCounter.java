// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test that runs once per algorithm that keeps counts: what exceeds a lowered limit counts as all of it. The log keeps
 * calls, of few permits, and all of them count.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ParameterizedTest(name = "{0}")
@EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_LOG")
@interface EachCounter {}
