// SPDX-License-Identifier: Apache-2.0
/** A test application with every kind of configuration problem. Its deployment fails. */
package io.weir.ratelimit.it.wrong;
