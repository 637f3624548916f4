// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.List;
import java.util.Optional;

/**
 * What is known about the call that a decision is about. Asked on the thread of the call. What a call does not have is empty,
 * which is what the methods with a body answer.
 */
public interface CallContext {

    /** A call of which nothing is known, as on a timer's thread. */
    CallContext NONE = new CallContext() {
        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    };

    /**
     * The address of the peer that the server talks to, which may be a proxy.
     *
     * @return a literal address
     */
    Optional<String> peerAddress();

    /**
     * The authenticated user's name.
     *
     * @return the name
     */
    Optional<String> principal();

    /**
     * The value of a request header. Of several lines of one header it is the first, as applications read it: a further line must
     * not make the caller another.
     *
     * @param name the header's name, in any case
     * @return the value as the client sent it
     */
    Optional<String> header(String name);

    /**
     * The argument that is marked {@link io.weir.ratelimit.RateLimitKey} with a name.
     *
     * @param name the name
     * @return the argument; empty also where the arguments are not known yet
     */
    Optional<Object> argument(String name);

    /**
     * All lines of a request header, for headers that each proxy adds to.
     *
     * @param name the header's name, in any case
     * @return the values as the client or the last proxy sent them, in order; empty if there is none
     */
    default List<String> headerLines(String name) {
        return List.of();
    }

    /**
     * The value of a cookie. Of several with one name it is the one that the server gives to applications.
     *
     * @param name the cookie's name, whose case matters
     * @return the value as the client sent it
     */
    default Optional<String> cookie(String name) {
        return Optional.empty();
    }

    /**
     * The value of a parameter of the query, never of a form in the body.
     *
     * @param name the parameter's name, decoded; its case matters
     * @return the first value, decoded
     */
    default Optional<String> query(String name) {
        return Optional.empty();
    }

    /**
     * The value of a parameter of the matched path, such as {@code org} of {@code /orgs/{org}}.
     *
     * @param name the parameter's name
     * @return the value, decoded; of several with one name that of the last in the path; empty also where no path is matched yet
     */
    default Optional<String> pathParameter(String name) {
        return Optional.empty();
    }

    /**
     * A claim of the token with which MicroProfile JWT has authenticated the caller.
     *
     * @param name the claim's name
     * @return the text, number or truth value as text; empty for arrays and objects, and where MicroProfile JWT is not there
     */
    default Optional<String> claim(String name) {
        return Optional.empty();
    }

    /**
     * The Java method that is called.
     *
     * @return {@code Class.method}, with the simple name of the class
     */
    default Optional<String> method() {
        return Optional.empty();
    }

    /**
     * Whether the authenticated user has a role.
     *
     * @param role the role's name
     * @return false also where nobody is authenticated
     */
    default boolean isInRole(String role) {
        return false;
    }
}
