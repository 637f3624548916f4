// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

/**
 * The properties of a request that determine the response to its rejection: its endpoint, empty if it is unknown, the disclosure of its
 * policies and the accepted media types.
 */
record RejectionContext(String endpoint, boolean minimal, AcceptHeader accept) {}
