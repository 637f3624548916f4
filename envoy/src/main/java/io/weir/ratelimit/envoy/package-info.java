// SPDX-License-Identifier: Apache-2.0
/** A server of the rate limit service of Envoy: a host of the limiter without a container. */
@NullMarked
package io.weir.ratelimit.envoy;

import org.jspecify.annotations.NullMarked;
