// SPDX-License-Identifier: Apache-2.0
/** The REST runtimes that the test kit calls without a connection. Not for applications. */
@NullMarked
package io.weir.ratelimit.test.rest;

import org.jspecify.annotations.NullMarked;
