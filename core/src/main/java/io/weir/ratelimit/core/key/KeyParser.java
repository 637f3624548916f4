// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A parser of key expressions. Its errors have a position. */
final class KeyParser {
    private final String text;
    private final KeyTerms terms;
    private int at;

    KeyParser(String text, KeyTerms terms) {
        this.text = text;
        this.terms = terms;
    }

    /** Parses the alternatives, each a compound of terms. */
    List<List<KeyTerm>> alternatives() {
        List<List<KeyTerm>> alternatives = new ArrayList<>();
        do {
            List<KeyTerm> compound = new ArrayList<>();
            do {
                compound.add(term());
            } while (skips('+'));
            alternatives.add(List.copyOf(compound));
        } while (skips('|'));
        return List.copyOf(alternatives);
    }

    private KeyTerm term() {
        skipBlanks();
        if (at == text.length() || isSign()) {
            throw wrong(at, "a term is missing " + (at == text.length() ? "at the end" : "before " + found()));
        }
        int start = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw wrong(at, "a term is expected, found " + found());
        }
        String word = text.substring(start, at);
        KeyTerm term = at < text.length() && text.charAt(at) == ':' ? named(start, word) : unnamed(start, word);
        skipBlanks();
        if (at < text.length() && !isSign()) {
            throw wrong(at, "+ or | is expected after \"" + term + "\", found " + found());
        }
        return term;
    }

    private KeyTerm named(int start, String text) {
        Optional<KeyWord> found = KeyWord.of(text);
        KeyWord word = found.orElseThrow(() -> unknown(start, text + ":"));
        if (!word.isNamed()) {
            throw wrong(at, "+ or | is expected after \"" + text + "\", found " + found());
        }
        at++;
        return terms.term(word, name(word));
    }

    private String name(KeyWord word) {
        int start = at;
        while (at < text.length() && word.allowsInName(text.charAt(at))) {
            at++;
        }
        if (at - start > KeyWord.LONGEST_NAME) {
            throw wrong(
                    start + KeyWord.LONGEST_NAME,
                    "a name after " + word.text() + ": has at most " + KeyWord.LONGEST_NAME + " characters");
        }
        boolean ends = at == text.length() || isSign() || Character.isWhitespace(text.charAt(at));
        if (at == start) {
            throw wrong(at, "a name is expected after " + word.text() + ":, found " + found());
        }
        if (!ends) {
            throw wrong(at, "a name after " + word.text() + ": cannot have " + found());
        }
        return text.substring(start, at);
    }

    private KeyTerm unnamed(int start, String word) {
        Optional<KeyWord> known = KeyWord.of(word);
        if (known.filter(KeyWord::isNamed).isPresent()) {
            throw wrong(at, "a colon and a name are expected after \"" + word + "\", found " + found());
        }
        return known.map(plain -> terms.term(plain, ""))
                .or(() -> terms.resolver(word))
                .orElseThrow(() -> unknown(start, word));
    }

    private IllegalArgumentException unknown(int start, String term) {
        String suggestion = Spelling.nearest(term, terms.forms())
                .map(near -> "; did you mean " + near + "?")
                .orElse("");
        return wrong(start, "there is no key term \"" + term + "\"" + suggestion);
    }

    private boolean skips(char sign) {
        boolean here = at < text.length() && text.charAt(at) == sign;
        at += here ? 1 : 0;
        return here;
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean isSign() {
        return text.charAt(at) == '+' || text.charAt(at) == '|';
    }

    private static boolean isWord(char c) {
        return IdentityEncoder.isLetterOrDigit(c) || "_.-".indexOf(c) >= 0;
    }

    private String found() {
        return at == text.length() ? "the end" : Spelling.shown(text.codePointAt(at));
    }

    private IllegalArgumentException wrong(int position, String problem) {
        return new IllegalArgumentException("at character " + (text.codePointCount(0, position) + 1) + ": " + problem);
    }
}
