// SPDX-License-Identifier: Apache-2.0
/** A test application with JWT authentication. */
package io.weir.ratelimit.it.jwt;
