// SPDX-License-Identifier: Apache-2.0
/** A test application whose policies limit the calls that run at once. */
package io.weir.ratelimit.it.slots;
