// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * A Jakarta REST runtime in the JVM of the test, with the resources of the test class and the providers of Weir. It opens no port: a
 * request is a call on the thread of the test, which ends with the response.
 *
 * <p>The runtime is Jersey or RESTEasy, whichever the class path of the test contains. Filters, mappers, writers and beans are those of
 * the application. Servlets, servlet filters and the security of a server do not take part. A request has a user only by {@link #as}, and
 * its peer has the address {@code 127.0.0.1} unless {@link #from} selects another one.
 */
public interface RestRuntime {
    /**
     * Sends a GET request.
     *
     * @param path the path below the context root, with the path of the application, such as {@code /api/hello?name=ann}
     * @return the response
     */
    default HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    /**
     * Sends a request.
     *
     * @param request the request, with a URI of {@link #uri}
     * @return the response, with the status 500 if the resource throws an exception that no mapper handles
     * @throws IllegalStateException if the call has no response after 30 seconds
     */
    HttpResponse<String> send(HttpRequest request);

    /**
     * Returns the URI of a path.
     *
     * @param path the path below the context root, with the path of the application
     * @return an absolute URI
     */
    URI uri(String path);

    /**
     * Returns this runtime for requests of a user.
     *
     * @param user the name of the user
     * @param roles the roles of the user
     * @return the same runtime for these requests
     */
    RestRuntime as(String user, String... roles);

    /**
     * Returns this runtime for requests from a peer.
     *
     * @param address the literal address of the peer, which can be a proxy
     * @return the same runtime for these requests
     */
    RestRuntime from(String address);
}
