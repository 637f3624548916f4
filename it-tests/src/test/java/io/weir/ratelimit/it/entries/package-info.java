// SPDX-License-Identifier: Apache-2.0
/** A test application whose limited methods the server calls without Jakarta REST. */
package io.weir.ratelimit.it.entries;
