// SPDX-License-Identifier: Apache-2.0

/** The example application: one resource for each way to limit. */
@NullMarked
package io.weir.example;

import org.jspecify.annotations.NullMarked;
