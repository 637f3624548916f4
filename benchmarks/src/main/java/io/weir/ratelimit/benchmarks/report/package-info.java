// SPDX-License-Identifier: Apache-2.0
/**
 * The report: it runs the programs that measure, keeps their figures in {@code docs/figures}, and writes their tables and charts into the
 * documents.
 */
@NullMarked
package io.weir.ratelimit.benchmarks.report;

import org.jspecify.annotations.NullMarked;
