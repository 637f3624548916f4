// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An annotation that names a parameter of a limited method, so that the key expression {@code arg:<name>} can refer to its value.
 *
 * <pre>{@code
 * @POST @RateLimit("login-user")                  // ratelimit.policies.login-user.key = arg:username
 * public Response login(@FormParam("username") @RateLimitKey("username") String username) ...
 * }</pre>
 *
 * The {@link Object#toString()} of the argument is the key. {@code null} and a blank text do not resolve.
 *
 * <p>Arguments are known only at the call of the bean method. If a policy of a method uses an argument, all policies of the method are
 * therefore decided there, after the entity is read.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface RateLimitKey {
    /**
     * Returns the name of the parameter in {@code arg:<name>}, which is unique within the method.
     *
     * @return the name
     */
    String value();
}
