// SPDX-License-Identifier: Apache-2.0
/**
 * The documentation of limits in the OpenAPI document of an application. Only this package uses MicroProfile OpenAPI. No other package
 * refers to it, so that its classes are not loaded on servers without this API.
 */
@NullMarked
package io.weir.ratelimit.interceptor.openapi;

import org.jspecify.annotations.NullMarked;
