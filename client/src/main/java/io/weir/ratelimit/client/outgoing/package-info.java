// SPDX-License-Identifier: Apache-2.0
/**
 * The limits of outgoing calls: the configuration of REST clients, what an upstream says about its limits, and the budget of retries.
 */
@NullMarked
package io.weir.ratelimit.client.outgoing;

import org.jspecify.annotations.NullMarked;
