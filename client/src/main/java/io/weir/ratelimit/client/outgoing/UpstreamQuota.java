// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

/**
 * A quota that an upstream reports: the calls that it still allows, 0 or more, and the time until it allows more, from 0 to
 * {@link UpstreamTime#MAX_SECONDS}.
 */
record UpstreamQuota(long remaining, long resetSeconds) {}
