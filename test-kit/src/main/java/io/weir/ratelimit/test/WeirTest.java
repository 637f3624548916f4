// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class with rate limits: the engine decides with the in-process backend and a virtual clock.
 *
 * <p>The extension sets fields and parameters of the types {@link io.weir.ratelimit.RateLimiter}, {@link RateLimitClock} and {@link
 * RateLimits}. Each test class has an engine of its own, which its nested classes share.
 *
 * <pre>{@code
 * @WeirTest(properties = "ratelimit.policies.mail.limit=3/1h")
 * class MailTest {
 *     @Test
 *     void sendsThreeMailsPerHour(RateLimiter limiter, RateLimitClock clock) {
 *         limiter.acquire("mail", "tenant-7", 3);
 *         clock.advance(Duration.ofHours(1));
 *         assertTrue(limiter.acquire("mail", "tenant-7").allowed());
 *     }
 * }
 * }</pre>
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(WeirExtension.class)
public @interface WeirTest {
    /**
     * Returns the configuration, which takes precedence over {@code META-INF/microprofile-config.properties} of the test.
     *
     * @return lines of the form {@code name=value}
     */
    String[] properties() default {};

    /**
     * Returns the first time of the clock.
     *
     * @return an instant from the year 2025 on, such as {@code 2026-02-28T23:59:00Z}
     */
    String now() default DEFAULT_NOW;

    /**
     * Returns whether {@link RateLimits#resetAll()} runs before each test.
     *
     * @return false if the tests of the class share one state
     */
    boolean reset() default true;

    /**
     * Returns the bean classes of the test. If the class path has a CDI container for Java SE, the engine runs in it, and the test can
     * inject beans, whose methods are limited. Without this list and {@link
     * #packages()}, the container finds the beans of all archives with a {@code
     * META-INF/beans.xml}.
     *
     * @return the classes
     */
    Class<?>[] beans() default {};

    /**
     * Returns classes whose packages contain beans of the test, in addition to {@link #beans()}. The container finds the classes with a
     * scope or another bean defining annotation in these packages and in their subpackages. Resources, providers and applications of
     * Jakarta REST need no scope. The container searches only the folder or the archive of each class, so a class of the application does
     * not add beans of tests.
     *
     * @return one class of each package
     */
    Class<?>[] packages() default {};

    /**
     * Returns whether the engine runs in a CDI container, if the class path has one.
     *
     * @return false if the test needs no beans
     */
    boolean container() default true;

    /**
     * Returns the Redis that decides, for tests of the integration with Redis. It needs {@code weir-redisson-backend} on the class path.
     * Redis decides by its own clock, so {@link RateLimitClock#advance} throws {@link UnsupportedOperationException}. Each test begins
     * with a namespace of its own. The faults of {@link RateLimits} apply as well.
     *
     * @return an address such as {@code redis://localhost:6379}; or the name of an image such as {@code redis:7.2-alpine}, which
     *     Testcontainers starts once per JVM. Without Docker, the test class is skipped. Empty for the backend in process
     */
    String redis() default "";

    /** The first time of a clock without a time of its own. */
    String DEFAULT_NOW = "2026-01-01T00:00:00Z";
}
