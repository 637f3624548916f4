// SPDX-License-Identifier: Apache-2.0
/** The limits of calls that the application sends by REST clients. */
@NullMarked
package io.weir.ratelimit.client;

import org.jspecify.annotations.NullMarked;
