// SPDX-License-Identifier: Apache-2.0
/** A program that runs instances under random faults, and checks that their promises are kept. */
@NullMarked
package io.weir.nemesis;

import org.jspecify.annotations.NullMarked;
