// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

/**
 * What the answer to a refused call needs to know of its request.
 *
 * @param endpoint what was called, empty if that is not known
 * @param minimal whether a policy that took part in it tells clients nothing
 * @param accept what the client takes
 */
record RejectionContext(String endpoint, boolean minimal, AcceptHeader accept) {}
