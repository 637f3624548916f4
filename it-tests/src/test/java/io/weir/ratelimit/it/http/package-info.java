// SPDX-License-Identifier: Apache-2.0
/** A test application for the HTTP contract. */
package io.weir.ratelimit.it.http;
