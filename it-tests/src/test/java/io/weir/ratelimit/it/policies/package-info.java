// SPDX-License-Identifier: Apache-2.0
/** A test application with policies by path, outcome, tier and caller. */
package io.weir.ratelimit.it.policies;
