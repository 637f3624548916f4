// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names a parameter of a limited method, so that the key expression {@code arg:<name>} can use its value.
 *
 * <pre>{@code
 * @POST @RateLimit("login-user")                  // ratelimit.policies.login-user.key = arg:username
 * public Response login(@FormParam("username") @RateLimitKey("username") String username) ...
 * }</pre>
 *
 * The value's {@link Object#toString()} is the key; {@code null} or a blank text does not resolve. A policy whose key uses an
 * argument can only be decided where the arguments are known, at the call of the bean's method: for such a method the whole
 * decision moves there, after the entity is read.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface RateLimitKey {
    /**
     * The name by which {@code arg:<name>} finds the parameter, unique within its method.
     *
     * @return the name
     */
    String value();
}
