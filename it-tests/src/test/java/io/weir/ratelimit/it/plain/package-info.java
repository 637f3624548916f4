// SPDX-License-Identifier: Apache-2.0
/** The least application: one resource without a scope. */
package io.weir.ratelimit.it.plain;
