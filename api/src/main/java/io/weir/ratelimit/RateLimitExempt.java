// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An annotation that exempts a method, or all methods of a class, from rate limits. An example is a health check within a limited
 * resource class.
 *
 * <p>On a method, the annotation overrides a {@link RateLimit} of the class and every path rule. A {@link RateLimit} of a method
 * overrides the annotation on its class. Both annotations on the same element are a deployment error.
 */
@Inherited
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface RateLimitExempt {}
