// SPDX-License-Identifier: Apache-2.0
/**
 * What the OpenAPI document of an application says about its limits. The only package that knows MicroProfile OpenAPI: nothing else
 * refers to it, so that nothing of it is loaded where a server has no such API.
 */
@NullMarked
package io.weir.ratelimit.interceptor.openapi;

import org.jspecify.annotations.NullMarked;
