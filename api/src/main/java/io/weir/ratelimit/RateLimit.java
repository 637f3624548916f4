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
 * An annotation that limits how often a method is called per key, such as a user or an address. The limit applies over all instances
 * that share a Redis, or per process if no Redis is configured.
 *
 * <pre>{@code
 * @GET @RateLimit("api")                          // a policy from configuration
 * @GET @RateLimit(value = "api", cost = 10)       // spends 10 permits per call
 * @POST @RateLimit({"login-ip", "login-user"})    // several policies, one atomic decision
 * @GET @RateLimit(limit = "5/10s", key = "ip")    // limits in place
 * }</pre>
 *
 * <h2>Annotated elements</h2>
 *
 * The annotation applies to Jakarta REST resource methods and to business methods of any CDI bean. Calls of a resource method are
 * decided after authentication and authorization and before the entity is read. A rejected call of a bean method throws {@link
 * RateLimitExceededException}. If the method returns a {@link java.util.concurrent.CompletionStage} or a {@code CompletableFuture}, the
 * call does not throw, and the stage fails with the exception. The slot and the charge of such a call follow the returned stage.
 *
 * <p>The annotation is allowed on a method, on a class, on a superclass of the bean, and on a stereotype. On a class it applies to all
 * methods but {@code equals}, {@code hashCode} and {@code toString}; the annotation of a method replaces that of the class. As with every
 * CDI interceptor, private, static and final methods, callbacks, and calls within one object are not intercepted. Neither are decorators,
 * and objects that a producer creates without an {@code InterceptionFactory}.
 *
 * <h2>Charges</h2>
 *
 * An allowed call spends its cost under each of its policies in one atomic step. A rejected call spends no permits.
 *
 * <h2>Waiting</h2>
 *
 * Under a policy with {@code max-wait}, a call waits for its permits before the method runs. If the method of a managed bean returns a
 * {@link java.util.concurrent.CompletionStage} or a {@code CompletableFuture}, or is a resource method with an {@code AsyncResponse}, the
 * call holds no thread: it returns at once, and the method runs later on a thread of the managed executor. That thread has the class
 * loader, the naming context and the security context of the caller, and a request scope of its own. The rejection of a waiting call
 * completes the stage or resumes the response. Other methods wait on the thread of their caller.
 *
 * <h2>Several calls in one request</h2>
 *
 * Each call of a method is charged, also if one HTTP request repeats it. Different limited methods that a request calls under one policy and
 * key share a charge: the request pays for the one whose calls cost most. The filter of a resource and the first call of its method are one
 * call. All calls of a request share one slot of a concurrency limit per key. MicroProfile Fault Tolerance repeats a method inside of this
 * annotation, so a retried method is charged once. A call within the same object is not intercepted and not charged.
 *
 * <h2>Configuration</h2>
 *
 * Configuration overrides every member, so that limits can be changed without a new build: {@code ratelimit.policies.<name>.limit},
 * {@code .key}, {@code .algorithm} and others override the policy, {@code ratelimit.costs."Class.method"} overrides the cost. An
 * annotation without a policy name defines the policy {@code Class.method}, with the simple names of the bean class and the method.
 *
 * <p>Invalid or contradictory definitions are deployment errors. All of them are reported in one message.
 */
@InterceptorBinding
@Inherited
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface RateLimit {

    /**
     * Returns the names of the policies that apply to a call. Empty means one policy with the name {@code Class.method}. A name has 1 to
     * 128 characters of {@code A-Z a-z 0-9 . _ - $}.
     *
     * @return the policy names
     */
    @Nonbinding
    String[] value() default {};

    /**
     * Returns limits in place, each as {@code <permits>/<duration>}, or as {@code <permits>/<unit of the calendar>} such as {@code
     * 10000/month}. Several limits are separated by commas and apply together, as in {@code "10/1s, 1000/1h"}. The permits are a whole
     * number, 0 or more; 0 blocks all calls. A duration is a whole number with the unit {@code ms}, {@code s}, {@code m}, {@code h} or
     * {@code d}, from 1 ms to 366 days. Allowed with at most one policy name in {@link #value()}.
     *
     * @return the limits, or empty if configuration defines them
     */
    @Nonbinding
    String limit() default "";

    /**
     * Returns the key expression: {@code ip}, {@code principal}, {@code global}, {@code method}, {@code header:<name>}, {@code
     * cookie:<name>}, {@code query:<name>}, {@code path:<name>}, {@code claim:<name>}, {@code arg:<name>}, or the name of a {@code
     * KeyResolver} bean. {@code a + b} is a compound key, {@code a | b} the first key that resolves. If nothing resolves, the call has the
     * key {@code anonymous}, which all such calls share. Empty means {@code principal | ip}. Allowed with at most one policy name in
     * {@link #value()}.
     *
     * @return the key expression, or empty
     */
    @Nonbinding
    String key() default "";

    /**
     * Returns the algorithm of the limits in place. It has an effect only together with {@link #limit()}.
     *
     * @return the algorithm
     */
    @Nonbinding
    Algorithm algorithm() default Algorithm.SLIDING_WINDOW;

    /**
     * Returns the permits that a call spends under each of its policies, 1 or more. 0 means the configured cost of each policy, which
     * is 1 by default.
     *
     * @return the cost, or 0
     */
    @Nonbinding
    long cost() default 0;
}
