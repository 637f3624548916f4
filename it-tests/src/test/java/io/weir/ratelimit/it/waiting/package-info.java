// SPDX-License-Identifier: Apache-2.0
/** A test application whose callers wait for permits in four ways. */
package io.weir.ratelimit.it.waiting;
