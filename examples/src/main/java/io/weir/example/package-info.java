// SPDX-License-Identifier: Apache-2.0

/** The example application, with one resource for each kind of limit. */
@NullMarked
package io.weir.example;

import org.jspecify.annotations.NullMarked;
