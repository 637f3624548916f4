// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.core.request.RequestState;

/** The names of properties of REST requests. Servlet filters see them as attributes. No name needs the Servlet API. */
public final class RequestProperties {
    /** The state of the request. */
    public static final String STATE = RequestState.class.getName();

    /** The path of the base URI at the arrival of the request. */
    public static final String BASE = "io.weir.ratelimit.base";

    /** The decorator of a span that starts after the decision. */
    public static final String PENDING_SPAN = "io.weir.ratelimit.pending-span";

    /**
     * The address of the peer on a runtime without the Servlet API, as a literal address. A pre-matching filter of the application
     * sets it, at a priority below 100.
     */
    public static final String PEER_ADDRESS = "io.weir.ratelimit.peer-address";

    /** A supplier of the encoded path below the base URI, on a runtime whose {@code UriInfo} has only the decoded path. */
    public static final String PATH = "io.weir.ratelimit.path";

    /** The report of the end of the request by the runtime: a predicate as in {@code UserCall}. */
    public static final String END = "io.weir.ratelimit.end";

    private RequestProperties() {}
}
