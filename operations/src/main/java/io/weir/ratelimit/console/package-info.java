// SPDX-License-Identifier: Apache-2.0
/** The console: a page for operators and its JSON interface. Applications do not call this package. */
@NullMarked
package io.weir.ratelimit.console;

import org.jspecify.annotations.NullMarked;
