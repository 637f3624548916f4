// SPDX-License-Identifier: Apache-2.0
/** The classes that how-to pages show. */
package io.weir.ratelimit.docs;
