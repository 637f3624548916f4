// SPDX-License-Identifier: Apache-2.0

/** A program that starts two instances of the example with one Redis, and some load. */
@NullMarked
package io.weir.example.fleet;

import org.jspecify.annotations.NullMarked;
