// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point for Jakarta REST: the filter that decides before a resource method, and what a client sees of a decision.
 */
@NullMarked
package io.weir.ratelimit.interceptor.rest;

import org.jspecify.annotations.NullMarked;
