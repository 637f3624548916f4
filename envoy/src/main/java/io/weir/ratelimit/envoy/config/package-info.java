// SPDX-License-Identifier: Apache-2.0
/** The configuration files of the rate limit service of Envoy, as policies. */
@NullMarked
package io.weir.ratelimit.envoy.config;

import org.jspecify.annotations.NullMarked;
