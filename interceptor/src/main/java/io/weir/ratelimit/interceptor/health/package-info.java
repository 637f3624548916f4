// SPDX-License-Identifier: Apache-2.0
/** The health checks of the backend. Only this package uses MicroProfile Health. Its classes are not loaded on servers without this API. */
@NullMarked
package io.weir.ratelimit.interceptor.health;

import org.jspecify.annotations.NullMarked;
