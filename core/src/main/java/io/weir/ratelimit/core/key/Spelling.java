// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** The spelling of invalid characters and terms in messages. */
final class Spelling {
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

    /** Returns the form of a term that differs little from a word, if there is one. Names after colons are ignored. */
    static Optional<String> nearest(String word, Collection<String> forms) {
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

    /** Returns the Levenshtein distance of two texts. */
    private static int distance(String one, String other) {
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
            }
            before = row;
        }
        return before[other.length()];
    }
}
