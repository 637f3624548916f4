// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** The spelling of invalid characters and names in messages. */
public final class Spelling {
    private static final int LONGEST = 64;

    private Spelling() {}

    /** Returns a character in quotes, or its number if it is invisible or reorders its neighbors. */
    static String shown(int point) {
        if (point == ' ') {
            return "a blank";
        }
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SPACE_SEPARATOR -> String.format("U+%04X", point);
            default -> '"' + Character.toString(point) + '"';
        };
    }

    /** Returns the form that differs least from a misspelled word, without names after colons; empty if none differs little. */
    public static Optional<String> nearest(String word, Collection<String> forms) {
        String wanted = word.toLowerCase(Locale.ROOT).replace(":", "");
        if (wanted.length() > LONGEST) {
            return Optional.empty();
        }
        Optional<String> nearest = Optional.empty();
        int least = Math.max(1, wanted.length() / 3) + 1;
        for (String form : forms) {
            int distance = distance(wanted, form.replace(":<name>", "").toLowerCase(Locale.ROOT));
            if (distance < least) {
                least = distance;
                nearest = Optional.of(form);
            }
        }
        return nearest;
    }

    /** Returns the number of characters to insert, delete, replace or exchange with their neighbor. */
    private static int distance(String one, String other) {
        int[] beforeLast = new int[0];
        int[] before = new int[other.length() + 1];
        for (int j = 0; j < before.length; j++) {
            before[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int[] row = new int[before.length];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = before[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(before[j], row[j - 1]));
                if (i > 1 && j > 1 && isExchanged(one, i, other, j)) {
                    row[j] = Math.min(row[j], 1 + beforeLast[j - 2]);
                }
            }
            beforeLast = before;
            before = row;
        }
        return before[other.length()];
    }

    private static boolean isExchanged(String one, int oneEnd, String other, int otherEnd) {
        return one.charAt(oneEnd - 1) == other.charAt(otherEnd - 2)
                && one.charAt(oneEnd - 2) == other.charAt(otherEnd - 1);
    }
}
