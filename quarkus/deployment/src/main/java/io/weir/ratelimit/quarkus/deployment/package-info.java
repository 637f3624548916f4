// SPDX-License-Identifier: Apache-2.0
/** The build steps of Quarkus. */
@NullMarked
package io.weir.ratelimit.quarkus.deployment;

import org.jspecify.annotations.NullMarked;
