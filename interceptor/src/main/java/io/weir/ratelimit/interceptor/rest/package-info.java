// SPDX-License-Identifier: Apache-2.0
/** The entry point for Jakarta REST: the filters that decide about requests, and the responses to clients. */
@NullMarked
package io.weir.ratelimit.interceptor.rest;

import org.jspecify.annotations.NullMarked;
