// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.inject.Stereotype;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Stereotypes and interceptor bindings with a limit. */
final class LimitAnnotations {
    private LimitAnnotations() {}

    @Stereotype
    @RateLimit("stereotype")
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface Limited {}

    @Stereotype
    @Limited
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface LimitedTwiceRemoved {}

    @InterceptorBinding
    @RateLimit("binding")
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.METHOD})
    @interface Bound {}

    /** An annotation that is neither a stereotype nor a binding, so its limit has no effect. */
    @RateLimit("unrelated")
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.METHOD})
    @interface Unrelated {}
}
