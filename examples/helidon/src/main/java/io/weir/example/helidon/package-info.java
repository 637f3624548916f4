// SPDX-License-Identifier: Apache-2.0

/** An application on Helidon MP. */
@NullMarked
package io.weir.example.helidon;

import org.jspecify.annotations.NullMarked;
