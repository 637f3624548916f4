// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

/**
 * The properties of a request that determine the response to its rejection.
 *
 * @param endpoint the called endpoint, empty if it is unknown
 * @param minimal whether a policy of the request has minimal disclosure
 * @param accept the media types that the client accepts
 */
record RejectionContext(String endpoint, boolean minimal, AcceptHeader accept) {}
