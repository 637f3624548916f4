// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Frees a method, or all methods of a class, from rate limits, such as a health check within a limited resource class.
 *
 * <p>On a method it wins over a {@link RateLimit} of the class. On a class it yields to a {@link RateLimit} of a method. Both
 * on the same element fail the deployment.
 */
@Inherited
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface RateLimitExempt {}
