// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import org.jspecify.annotations.Nullable;

/**
 * One element of a {@code Forwarded} field (RFC 7239): pairs separated by semicolons, of which only {@code for} is read. Blanks
 * around pairs and unquoted values that are not tokens are accepted, because proxies write them.
 */
final class ForwardedElement {
    /** Longer than any address with a port, even if each character is escaped. */
    private static final int LONGEST_ESCAPED = 256;

    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    private final String line;
    private final int end;
    private int at;
    private @Nullable IpAddress address;

    private ForwardedElement(String line, int start, int end) {
        this.line = line;
        this.at = start;
        this.end = end;
    }

    /** Returns the start of the last element before a position, −1 if its quotes are not in pairs. Reads from right to left. */
    static int start(String line, int end) {
        for (int at = end - 1; at >= 0; at--) {
            char c = line.charAt(at);
            if (c == ',') {
                return at + 1;
            }
            if (c == '"') {
                at--;
                while (at >= 0 && (line.charAt(at) != '"' || isEscaped(line, at))) {
                    at--;
                }
                if (at < 0) {
                    return -1;
                }
            }
        }
        return 0;
    }

    private static boolean isEscaped(String line, int quote) {
        int before = quote;
        while (before > 0 && line.charAt(before - 1) == '\\') {
            before--;
        }
        return (quote - before) % 2 == 1;
    }

    /**
     * Returns the address in the {@code for} of an element; null if it has none or several, if it is not an address, or if the
     * form is invalid.
     */
    static @Nullable IpAddress read(String line, int start, int end) {
        ForwardedElement element = new ForwardedElement(line, start, end);
        return element.read() ? element.address : null;
    }

    private boolean read() {
        while (true) {
            skipBlanks();
            if (at < end && line.charAt(at) != ';' && !pair()) {
                return false;
            }
            skipBlanks();
            if (at == end) {
                return true;
            }
            if (line.charAt(at++) != ';') {
                return false;
            }
        }
    }

    private boolean pair() {
        int name = at;
        while (at < end && isToken(line.charAt(at))) {
            at++;
        }
        boolean isFor = at - name == 3 && line.regionMatches(true, name, "for", 0, 3);
        if (at == name || at == end || line.charAt(at++) != '=') {
            return false;
        }
        boolean quoted = at < end && line.charAt(at) == '"';
        int value = quoted ? ++at : at;
        boolean escapes = quoted ? !skipToQuote() : !skipValue();
        int valueEnd = at;
        if (quoted && at++ >= end) {
            return false;
        }
        if (!isFor) {
            return valueEnd > value || quoted;
        }
        if (address != null) {
            return false;
        }
        address = escapes ? unescaped(value, valueEnd) : HopAddress.read(line, value, valueEnd, true);
        return address != null;
    }

    /** Skips to the closing quote, or to the end if there is none. Returns false if a skipped character is escaped. */
    private boolean skipToQuote() {
        boolean plain = true;
        while (at < end && line.charAt(at) != '"') {
            boolean escape = line.charAt(at) == '\\';
            plain &= !escape;
            at += escape ? 2 : 1;
        }
        at = Math.min(at, end);
        return plain;
    }

    private boolean skipValue() {
        while (at < end && line.charAt(at) != ';' && line.charAt(at) != '"' && !isBlank(line.charAt(at))) {
            at++;
        }
        return true;
    }

    private @Nullable IpAddress unescaped(int start, int stop) {
        if (stop - start > LONGEST_ESCAPED) {
            return null;
        }
        StringBuilder text = new StringBuilder(stop - start);
        for (int i = start; i < stop; i++) {
            if (line.charAt(i) == '\\') {
                i++;
            }
            text.append(line.charAt(i));
        }
        return HopAddress.read(text.toString(), 0, text.length(), true);
    }

    private void skipBlanks() {
        while (at < end && isBlank(line.charAt(at))) {
            at++;
        }
    }

    static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    private static boolean isToken(char c) {
        return IdentityEncoder.isLetterOrDigit(c) || TOKEN_MARKS.indexOf(c) >= 0;
    }
}
