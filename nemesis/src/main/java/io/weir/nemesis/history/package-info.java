// SPDX-License-Identifier: Apache-2.0
/** The recorded operations and faults of a run, and their file. */
@NullMarked
package io.weir.nemesis.history;

import org.jspecify.annotations.NullMarked;
