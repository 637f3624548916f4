// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

/**
 * A quota that an upstream reports.
 *
 * @param remaining the calls that the upstream still allows, 0 or more
 * @param resetSeconds the time until the upstream allows more, from 0 to {@link UpstreamTime#MAX_SECONDS}
 */
record UpstreamQuota(long remaining, long resetSeconds) {}
