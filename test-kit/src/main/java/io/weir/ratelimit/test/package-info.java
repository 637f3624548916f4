// SPDX-License-Identifier: Apache-2.0
/**
 * The test kit for applications: a JUnit extension that starts the engine with a virtual clock and an in-process backend.
 */
@NullMarked
package io.weir.ratelimit.test;

import org.jspecify.annotations.NullMarked;
