// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;

/** A superclass whose annotation is inherited. */
@RateLimit("inherited")
public abstract class LimitedBase {}
