// SPDX-License-Identifier: Apache-2.0
/** A minimal test application: one resource without a scope. */
package io.weir.ratelimit.it.plain;
