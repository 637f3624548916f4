// SPDX-License-Identifier: Apache-2.0
/** The description of records as bytes, which writes and reads them. */
@NullMarked
package io.weir.ratelimit.operations.codec;

import org.jspecify.annotations.NullMarked;
