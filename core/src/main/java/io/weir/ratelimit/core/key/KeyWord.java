// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** A word of the key language. */
enum KeyWord {
    GLOBAL(""),
    IP(""),
    PRINCIPAL(""),
    METHOD(""),
    /** A field name is a token (RFC 9110, 5.1); it cannot have the signs that join terms. */
    HEADER(Marks.TOKEN),
    /** A cookie name is a token, too (RFC 6265, 4.1.1). */
    COOKIE(Marks.TOKEN),
    QUERY(Marks.VISIBLE),
    /** The name in a path template (Jakarta REST 3.1, 3.4). */
    PATH("._-"),
    /** The name of a claim, which can be a URI. */
    CLAIM(Marks.VISIBLE),
    ARG("._$-");

    /** The characters that names can have besides letters and digits. No name has the signs that join terms. */
    private static final class Marks {
        static final String TOKEN = "!#$%&'*-.^_`~";
        static final String VISIBLE = "!#$%&'()*,-./:;<=>?@[\\]^_`{}~";
    }

    static final int LONGEST_NAME = 64;

    private final String marks;

    KeyWord(String marks) {
        this.marks = marks;
    }

    /** Returns the word with a text. */
    static Optional<KeyWord> of(String text) {
        return Arrays.stream(values()).filter(word -> word.text().equals(text)).findFirst();
    }

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Tests whether a colon and a name follow the word. */
    boolean isNamed() {
        return !marks.isEmpty();
    }

    boolean allowsInName(char c) {
        return IdentityEncoder.isLetterOrDigit(c) || marks.indexOf(c) >= 0;
    }

    /** Returns the form of the term, for messages. */
    String form() {
        return isNamed() ? text() + ":<name>" : text();
    }
}
