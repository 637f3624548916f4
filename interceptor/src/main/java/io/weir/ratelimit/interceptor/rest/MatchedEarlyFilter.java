// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.annotation.Priority;

/**
 * The second entry point of policies with {@code phase=early}: the first filter after the match. A filter of the application can have
 * changed the method or the path since {@link EarlyFilter}, which is then not the request that the resource receives.
 */
@Priority(Integer.MIN_VALUE)
public class MatchedEarlyFilter extends EarlyFilter {}
