// SPDX-License-Identifier: Apache-2.0
/** A test application whose resolvers hang until a request ends that. */
package io.weir.ratelimit.it.hanging;
