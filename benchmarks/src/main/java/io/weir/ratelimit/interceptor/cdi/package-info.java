// SPDX-License-Identifier: Apache-2.0
/** Measurements that need package-private types of the deployment. */
@NullMarked
package io.weir.ratelimit.interceptor.cdi;

import org.jspecify.annotations.NullMarked;
