// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.List;
import java.util.Optional;

/**
 * The properties of a call from which keys, tiers and bypasses are determined.
 *
 * <p>Methods are called on the thread of the call. A property that the call does not have is empty; this is also the result of the default
 * methods.
 */
public interface CallContext {

    /** A call without any property, such as a call on the thread of a timer. */
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
     * Returns the address of the peer of the connection, which can be a proxy.
     *
     * @return an IP address in text form
     */
    Optional<String> peerAddress();

    /**
     * Returns the name of the authenticated user.
     *
     * @return the name; empty for a caller without a user, also if the server has a name for such callers
     */
    Optional<String> principal();

    /**
     * Returns the value of a request header. If the request has several lines of the header, the value of the first line is returned, as
     * it is to applications. A client can therefore not change its key by an additional line.
     *
     * @param name the name of the header, in any case
     * @return the value as the client sent it
     */
    Optional<String> header(String name);

    /**
     * Returns the argument of the parameter with the annotation {@link io.weir.ratelimit.RateLimitKey} of a name.
     *
     * @param name the name
     * @return the argument; also empty if the arguments are not known yet
     */
    Optional<Object> argument(String name);

    /**
     * Returns the values of all lines of a request header, for headers to which each proxy appends.
     *
     * @param name the name of the header, in any case
     * @return the values in order, as received; empty if the request does not have the header
     */
    default List<String> headerLines(String name) {
        return List.of();
    }

    /**
     * Returns the value of a cookie. If several cookies have the name, the value that the server returns to applications is returned.
     *
     * @param name the name of the cookie, case-sensitive
     * @return the value as the client sent it
     */
    default Optional<String> cookie(String name) {
        return Optional.empty();
    }

    /**
     * Returns the value of a query parameter. Form parameters in the body are not considered.
     *
     * @param name the decoded name of the parameter, case-sensitive
     * @return the first value, decoded
     */
    default Optional<String> queryParameter(String name) {
        return Optional.empty();
    }

    /**
     * Returns the value of a parameter of the matched path, such as {@code org} of {@code /orgs/{org}}.
     *
     * @param name the name of the parameter
     * @return the decoded value; if several parameters have the name, the last one in the path; also empty if no path is matched yet
     */
    default Optional<String> pathParameter(String name) {
        return Optional.empty();
    }

    /**
     * Returns a claim of the JWT by which MicroProfile JWT authenticated the caller, else of the ID token of OpenID Connect of Jakarta
     * Security.
     *
     * @param name the name of the claim, else the names on the path to a claim in an object, with dots between them
     * @return a string, number or boolean claim as text, also if it is the only element of an array; empty for other arrays, for objects,
     *     and if the caller has no token
     */
    default Optional<String> claim(String name) {
        return Optional.empty();
    }

    /**
     * Returns the called Java method.
     *
     * @return {@code Class.method}, with the simple name of the class
     */
    default Optional<String> method() {
        return Optional.empty();
    }

    /**
     * Returns whether the authenticated user has a role.
     *
     * @param role the name of the role
     * @return true if the user has the role; false if no user is authenticated
     */
    default boolean isInRole(String role) {
        return false;
    }
}
