// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * The key of a limit: the value of a key expression, or the key that code passes to a {@link RateLimiter}. All calls with an equal key
 * share the limit.
 *
 * <p>Each part of a key has a {@link Kind}. A user with the name {@code 203.0.113.7} and the address {@code 203.0.113.7} are therefore
 * different keys. A value-based class.
 *
 * <pre>{@code
 * limiter.acquire("mail", Identity.of("tenant-7"));
 * limiter.reset("api", Identity.principal("alice"));                                  // key = principal
 * limiter.reset("login", Identity.address("203.0.113.7").and(Identity.principal("alice")));   // key = ip + principal
 * }</pre>
 *
 * @param parts the parts of the key in order, one or more; a compound key has several
 */
public record Identity(List<Part> parts) {
    private static final Set<Kind> NAMED =
            EnumSet.of(Kind.HEADER, Kind.ARGUMENT, Kind.COOKIE, Kind.QUERY, Kind.PATH, Kind.CLAIM);

    /** The kind of a part. The prefixes of the kinds are part of the stored format and never change. */
    public enum Kind {
        /** The part that all callers share. */
        GLOBAL("all"),
        /** The part of all callers for which the key expression does not resolve. */
        ANONYMOUS("anon"),
        /** The name of an authenticated user. */
        PRINCIPAL("p"),
        /** An IP address or an address prefix, in canonical text form. */
        ADDRESS("i"),
        /** The value of a named request header. Treated as a secret. */
        HEADER("h"),
        /** The value of a named argument of the called method. */
        ARGUMENT("a"),
        /** The value of a named cookie. Treated as a secret. */
        COOKIE("c"),
        /** The value of a named query parameter. */
        QUERY("q"),
        /** The value of a named path parameter. */
        PATH("u"),
        /** The value of a named claim of the caller's JWT. */
        CLAIM("t"),
        /** The called Java method, as {@code Class.method}. */
        METHOD("m"),
        /** A text that application code passes. */
        CUSTOM("k");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }

        /**
         * Returns the prefix of the kind in stored keys.
         *
         * @return the prefix
         */
        public String prefix() {
            return prefix;
        }
    }

    /**
     * A part of a key.
     *
     * @param kind the kind of the part
     * @param name the name of the header, argument, cookie, parameter or claim; a header name is in lower case. Length: 1 to 64 characters
     *     for {@link Kind#HEADER}, {@link Kind#ARGUMENT}, {@link Kind#COOKIE}, {@link Kind#QUERY}, {@link Kind#PATH} and {@link
     *     Kind#CLAIM}. Empty for the other kinds
     * @param value the value as the caller sent it, except that credentials of {@code Authorization} have one spelling. Empty for {@link Kind#GLOBAL} and {@link Kind#ANONYMOUS}; not blank for the other
     *     kinds
     */
    public record Part(Kind kind, String name, String value) {
        /** Checks that name and value are present exactly if the kind requires them, so that different parts are stored differently. */
        public Part {
            Objects.requireNonNull(kind, "kind");
            boolean named = NAMED.contains(kind);
            boolean valued = kind != Kind.GLOBAL && kind != Kind.ANONYMOUS;
            if (named ? name.isBlank() || name.length() > MAX_NAME_LENGTH : !name.isEmpty()) {
                throw new IllegalArgumentException(
                        named ? "the name must have 1 to " + MAX_NAME_LENGTH + " characters" : kind + " has no name");
            }
            if (valued ? value.isBlank() : !value.isEmpty()) {
                throw new IllegalArgumentException(valued ? "the value must not be blank" : kind + " has no value");
            }
        }

        private static final int MAX_NAME_LENGTH = 64;

        /** Returns the kind and the name without the value, which can be a secret. */
        @Override
        public String toString() {
            return name.isEmpty() ? kind.prefix() : kind.prefix() + "." + name;
        }
    }

    private static final Set<String> CREDENTIALS = Set.of("authorization", "proxy-authorization");

    /** The key that all callers share; the value of the key expression {@code global}. */
    public static final Identity GLOBAL = of(Kind.GLOBAL, "", "");

    /** The key of all callers for which a key expression does not resolve. */
    public static final Identity ANONYMOUS = of(Kind.ANONYMOUS, "", "");

    /** Copies the list and checks that it is not empty. */
    public Identity {
        parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("a key needs a part");
        }
    }

    /**
     * Returns a key from a text. No key expression resolves to such a key.
     *
     * @param key any text that is not blank
     * @return the key
     */
    public static Identity of(String key) {
        return of(Kind.CUSTOM, "", key);
    }

    /**
     * Returns the key of a user: the value of the key expression {@code principal}.
     *
     * @param name the name of the user
     * @return the key
     */
    public static Identity principal(String name) {
        return of(Kind.PRINCIPAL, "", name);
    }

    /**
     * Returns the key of an address: the value of the key expression {@code ip}.
     *
     * <p>Addresses can share a key by prefix; by default, IPv6 addresses share a {@code /64}. The key of such an address is the key of its
     * prefix, such as {@code 2001:db8::/64}.
     *
     * @param address an address or an address prefix, in canonical text form
     * @return the key
     */
    public static Identity address(String address) {
        return of(Kind.ADDRESS, "", address);
    }

    /**
     * Returns the key of a header value: the value of the key expression {@code header:<name>}.
     *
     * <p>All spellings of the same credentials in {@code Authorization} and {@code Proxy-Authorization} have one key: the case of the
     * scheme and the number of blanks after it do not matter.
     *
     * @param name the name of the header, in any case
     * @param value the value of the header
     * @return the key
     */
    public static Identity header(String name, String value) {
        String field = name.toLowerCase(Locale.ROOT);
        return of(Kind.HEADER, field, CREDENTIALS.contains(field) ? credentials(value) : value);
    }

    /** Returns one spelling of credentials, because the scheme has no case and several blanks can follow it (RFC 9110, 11.4). */
    private static String credentials(String value) {
        String text = value.strip();
        int end = 0;
        while (end < text.length() && !Character.isWhitespace(text.charAt(end))) {
            end++;
        }
        return end == text.length()
                ? text
                : text.substring(0, end).toLowerCase(Locale.ROOT)
                        + ' '
                        + text.substring(end).strip();
    }

    /**
     * Returns the key of an argument: the value of the key expression {@code arg:<name>}.
     *
     * @param name the name in {@link RateLimitKey}
     * @param value the text of the argument
     * @return the key
     */
    public static Identity argument(String name, String value) {
        return of(Kind.ARGUMENT, name, value);
    }

    /**
     * Returns the key of a cookie value: the value of the key expression {@code cookie:<name>}.
     *
     * @param name the name of the cookie
     * @param value the value of the cookie
     * @return the key
     */
    public static Identity cookie(String name, String value) {
        return of(Kind.COOKIE, name, value);
    }

    /**
     * Returns the key of a query parameter: the value of the key expression {@code query:<name>}.
     *
     * @param name the name of the parameter
     * @param value the decoded value of the parameter
     * @return the key
     */
    public static Identity query(String name, String value) {
        return of(Kind.QUERY, name, value);
    }

    /**
     * Returns the key of a path parameter: the value of the key expression {@code path:<name>}.
     *
     * @param name the name of the parameter
     * @param value the decoded value of the parameter
     * @return the key
     */
    public static Identity path(String name, String value) {
        return of(Kind.PATH, name, value);
    }

    /**
     * Returns the key of a claim: the value of the key expression {@code claim:<name>}.
     *
     * @param name the name of the claim
     * @param value the text of the claim
     * @return the key
     */
    public static Identity claim(String name, String value) {
        return of(Kind.CLAIM, name, value);
    }

    /**
     * Returns the key of a Java method: the value of the key expression {@code method}.
     *
     * @param name {@code Class.method}, with the simple name of the class
     * @return the key
     */
    public static Identity method(String name) {
        return of(Kind.METHOD, "", name);
    }

    /**
     * Returns the compound of this key and another key, as the key expression {@code a + b} does.
     *
     * @param other the key with the parts to append
     * @return the compound key
     */
    public Identity and(Identity other) {
        List<Part> all = new ArrayList<>(parts);
        all.addAll(other.parts);
        return new Identity(all);
    }

    /** Returns the kinds and the names without the values, which can be secrets. */
    @Override
    public String toString() {
        return "Identity" + parts;
    }

    private static Identity of(Kind kind, String name, String value) {
        return new Identity(List.of(new Part(kind, name, value)));
    }
}
