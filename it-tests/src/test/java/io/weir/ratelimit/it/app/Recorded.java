// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

/** An entity of which it is known whether it was read. */
public record Recorded(String text) {}
