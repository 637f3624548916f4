// SPDX-License-Identifier: Apache-2.0
/** A test application whose REST applications list their classes and load no services. */
package io.weir.ratelimit.it.listed;
