// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

/** An entity whose reads are counted. */
public record Recorded(String text) {}
