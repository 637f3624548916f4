// SPDX-License-Identifier: Apache-2.0
/** Reports of instances: what each contains, its encoding, and the counts behind it. */
@NullMarked
package io.weir.ratelimit.console.report;

import org.jspecify.annotations.NullMarked;
