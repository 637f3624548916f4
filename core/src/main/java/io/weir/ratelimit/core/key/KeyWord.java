// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The words of the key language. */
enum KeyWord {
    GLOBAL(""),
    IP(""),
    PRINCIPAL(""),
    METHOD(""),
    /** RFC 9110, 5.1: a field name is a token; the signs that join terms cannot be in it. */
    HEADER(Marks.TOKEN),
    /** RFC 6265, 4.1.1: a token too. */
    COOKIE(Marks.TOKEN),
    QUERY(Marks.VISIBLE),
    /** Jakarta REST 3.1, 3.4: the name in a path template. */
    PATH("._-"),
    /** A claim's name may be a URI. */
    CLAIM(Marks.VISIBLE),
    ARG("._$-");

    /** Marks that names may have beside letters and digits; no name has the signs that join terms. */
    private static final class Marks {
        static final String TOKEN = "!#$%&'*-.^_`~";
        static final String VISIBLE = "!#$%&'()*,-./:;<=>?@[\\]^_`{}~";
    }

    static final int LONGEST_NAME = 64;

    private final String marks;

    KeyWord(String marks) {
        this.marks = marks;
    }

    /** The word with a text. */
    static Optional<KeyWord> of(String text) {
        return Arrays.stream(values()).filter(word -> word.text().equals(text)).findFirst();
    }

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a colon and a name follow. */
    boolean isNamed() {
        return !marks.isEmpty();
    }

    boolean allowsInName(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || marks.indexOf(c) >= 0;
    }

    /** The form of the term, for messages. */
    String form() {
        return isNamed() ? text() + ":<name>" : text();
    }
}
