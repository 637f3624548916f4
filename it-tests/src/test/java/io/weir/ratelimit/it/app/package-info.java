// SPDX-License-Identifier: Apache-2.0
/** A test application with one resource or bean for each place of a limit. */
package io.weir.ratelimit.it.app;
