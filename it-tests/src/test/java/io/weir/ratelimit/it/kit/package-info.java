// SPDX-License-Identifier: Apache-2.0
/** A test application that contains the test kit. */
package io.weir.ratelimit.it.kit;
