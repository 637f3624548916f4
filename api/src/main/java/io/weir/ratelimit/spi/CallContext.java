// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Optional;

/** What is known about the call that a decision is about. Asked on the thread of the call. */
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
}
