// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

/**
 * A piece of prose with its markup removed. A code span is the word {@link #CODE}.
 *
 * @param line the line of the file, counted from 1
 */
record Passage(int line, Kind kind, String text) {
    static final String CODE = "Code";

    enum Kind {
        /** The last line of a paragraph or of a list item. */
        LINE,
        /** A line that another line of the same paragraph or list item follows. */
        FOLLOWED_LINE,
        HEADING,
        TABLE_CELL,
        MESSAGE;

        boolean isLine() {
            return this == LINE || this == FOLLOWED_LINE;
        }
    }
}
