// SPDX-License-Identifier: Apache-2.0
/**
 * What the server's health checks say about the store. The only package that knows MicroProfile Health; nothing of it is loaded
 * where a server has no such API.
 */
@NullMarked
package io.weir.ratelimit.interceptor.health;

import org.jspecify.annotations.NullMarked;
