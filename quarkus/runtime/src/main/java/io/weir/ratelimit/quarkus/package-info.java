// SPDX-License-Identifier: Apache-2.0
/** The host of Quarkus: it deploys the limits of an application, and its entry points block no event loop. */
@NullMarked
package io.weir.ratelimit.quarkus;

import org.jspecify.annotations.NullMarked;
