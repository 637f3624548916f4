// SPDX-License-Identifier: Apache-2.0
/** The requests, responses and registrations of the Servlet API. Its classes are loaded only if the API is visible. */
@NullMarked
package io.weir.ratelimit.interceptor.servlet;

import org.jspecify.annotations.NullMarked;
