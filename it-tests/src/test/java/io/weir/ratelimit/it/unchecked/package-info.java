// SPDX-License-Identifier: Apache-2.0
/** A test application with problems in a resource without a scope. Its deployment fails. */
package io.weir.ratelimit.it.unchecked;
