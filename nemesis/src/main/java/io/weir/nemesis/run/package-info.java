// SPDX-License-Identifier: Apache-2.0
/** The instances as processes, their work, and the faults. */
@NullMarked
package io.weir.nemesis.run;

import org.jspecify.annotations.NullMarked;
