// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.spi.CallContext;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/** A resource that Weir itself serves over HTTP, such as the console. A host serves it by its own API for requests. */
public interface HttpResource {
    /**
     * Answers a request; empty if the server has answered by {@link Request#login}. The calling thread can block.
     *
     * @throws IOException if the request cannot be read or answered
     */
    Optional<Answer> answer(Request request) throws IOException;

    /** A request to the resource. */
    interface Request {
        /** Returns the caller. Its user is known after a login at the latest. */
        CallContext caller();

        /** Returns whether the server has authenticated a user, who need not have a name. */
        boolean hasUser();

        String method();

        /** Returns the path below that of the resource: empty, or a path that begins with a slash. */
        String path();

        /** Reads the body, up to a number of bytes. Throws an {@link IOException} if the client does not send the complete body. */
        byte[] body(int limit) throws IOException;

        /** Lets the server authenticate the caller, who has no user yet. */
        Login login() throws IOException;
    }

    enum Login {
        /** The caller has a user now. */
        SUCCEEDED,
        /** The server has answered the request, with a challenge for example. */
        ANSWERED,
        /** The server has no login, or ignores the credentials. */
        UNAVAILABLE
    }

    /** An answer, whose body is empty if there is none. */
    record Answer(int status, Map<String, String> headers, String body) {
        /** Checks that an error with the page of the server has no body. */
        public Answer {
            if (status >= 400 && headers.isEmpty() && !body.isEmpty()) {
                throw new IllegalArgumentException("the server has a page of its own for this error");
            }
        }

        /** Returns an error for which the server has a page of its own. */
        public static Answer error(int status) {
            return new Answer(status, Map.of(), "");
        }

        /** Returns whether the server answers with its own page for this error. */
        public boolean isError() {
            return status >= 400 && headers.isEmpty();
        }
    }
}
