// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how often a method may be called, per key (a user, an address, …), over all instances that share a Redis, or in this
 * process where none is configured.
 *
 * <pre>{@code
 * @GET @RateLimit("api")                          // a policy from configuration
 * @GET @RateLimit(value = "api", cost = 10)       // dearer than the rest
 * @POST @RateLimit({"login-ip", "login-user"})    // several policies, one decision, all or nothing
 * @GET @RateLimit(limit = "5/10s", key = "ip")    // limits in place
 * }</pre>
 *
 * <h2>Where it works</h2>
 *
 * On Jakarta REST resource methods, which are decided about after authentication and authorization and before the entity is
 * read, and on the business methods of any CDI bean, whose caller gets a {@link RateLimitExceededException}. It may stand on
 * the method, on the class (then it holds for each of its methods; a method's own annotation replaces it), on a superclass of
 * the bean, or on a stereotype. Private, static and final methods and calls within one object are not intercepted, as
 * with every CDI interceptor.
 *
 * <h2>What is charged</h2>
 *
 * An admitted call spends its cost under each of its policies, in one atomic step; a refused call spends nothing under any of
 * them. Within one HTTP request a policy is charged once for one key, whatever number of limited methods the request passes
 * through; a later, dearer one pays the difference. Where no HTTP request is active each call is charged.
 *
 * <h2>What configuration does</h2>
 *
 * Configuration overrides every member, so that limits can be tuned without a build: {@code ratelimit.policies.<name>.limit},
 * {@code .key}, {@code .algorithm}, … for the policy, and {@code ratelimit.costs."Class.method"} for the cost. An annotation
 * without a policy name means the policy {@code Class.method} (simple names of the bean class and the method).
 *
 * <p>Wrong or contradictory definitions fail the deployment, all of them in one message.
 */
@InterceptorBinding
@Inherited
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface RateLimit {

    /**
     * Names of the policies that hold for a call, together. Empty means one policy that is called {@code Class.method}. A name
     * has 1 to 128 characters of {@code A-Z a-z 0-9 . _ - $}.
     *
     * @return the policy names
     */
    @Nonbinding
    String[] value() default {};

    /**
     * Limits in place: {@code <permits>/<duration>}, several separated by commas all hold at once, as in {@code "10/1s,
     * 1000/1h"}. Permits are a whole number from 0 (blocks); durations are a whole number with {@code ms}, {@code s}, {@code
     * m}, {@code h} or {@code d}, from 1 ms to 366 days. Only with at most one policy name in {@link #value()}.
     *
     * @return the limits, or empty if configuration gives them
     */
    @Nonbinding
    String limit() default "";

    /**
     * Who shares the limit: {@code ip}, {@code principal}, {@code global}, {@code header:<name>} or {@code arg:<name>}; {@code a + b} is a compound
     * key and {@code a | b} the first that resolves. A caller for whom nothing resolves shares the key {@code anonymous}. Empty
     * means {@code principal | ip}. Only with at most one policy name in {@link #value()}.
     *
     * @return the key expression, or empty
     */
    @Nonbinding
    String key() default "";

    /**
     * How the limits in place count. Only meaningful together with {@link #limit()}.
     *
     * @return the algorithm
     */
    @Nonbinding
    Algorithm algorithm() default Algorithm.SLIDING_WINDOW;

    /**
     * Permits that a call spends under each of its policies, 1 or more; 0 means each policy's own cost, which is 1 unless
     * configured.
     *
     * @return the cost, or 0
     */
    @Nonbinding
    long cost() default 0;
}
