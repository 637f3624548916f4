// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * Who shares a limit: what a key expression resolves to, or what code names when it uses a {@link RateLimiter}.
 *
 * <p>An identity says of what kind it is, so that a user called {@code 203.0.113.7} and that address are never the same.
 *
 * <pre>{@code
 * limiter.acquire("mail", Identity.of("tenant-7"));
 * limiter.reset("api", Identity.principal("alice"));                                  // key = principal
 * limiter.reset("login", Identity.address("203.0.113.7").and(Identity.principal("alice")));   // key = ip + principal
 * }</pre>
 *
 * @param parts the parts of a compound identity in order, one or more
 */
public record Identity(List<Part> parts) {
    private static final Set<Kind> NAMED =
            EnumSet.of(Kind.HEADER, Kind.ARGUMENT, Kind.COOKIE, Kind.QUERY, Kind.PATH, Kind.CLAIM);

    /** Kinds of identity. Their prefixes are part of the stored format and never change. */
    public enum Kind {
        /** Shared by everyone. */
        GLOBAL("all"),
        /** Shared by all callers for whom the key expression does not resolve. */
        ANONYMOUS("anon"),
        /** An authenticated user's name. */
        PRINCIPAL("p"),
        /** An IP address or the prefix of one, in canonical text. */
        ADDRESS("i"),
        /** The value of a named request header; treated as a secret. */
        HEADER("h"),
        /** The value of a named argument of the called method. */
        ARGUMENT("a"),
        /** The value of a named cookie; treated as a secret. */
        COOKIE("c"),
        /** The value of a named parameter of the query. */
        QUERY("q"),
        /** The value of a named parameter of the path. */
        PATH("u"),
        /** The value of a named claim of the caller's token. */
        CLAIM("t"),
        /** The Java method that is called, {@code Class.method}. */
        METHOD("m"),
        /** A text that code chose. */
        CUSTOM("k");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }

        /**
         * The text that stands for the kind in stored keys.
         *
         * @return the prefix
         */
        public String prefix() {
            return prefix;
        }
    }

    /**
     * One part of an identity.
     *
     * @param kind its kind
     * @param name what names it within its kind, such as the header's name in lower case: 1 to 64 characters for {@link
     *     Kind#HEADER}, {@link Kind#ARGUMENT}, {@link Kind#COOKIE}, {@link Kind#QUERY}, {@link Kind#PATH} and {@link Kind#CLAIM},
     *     empty for the others
     * @param value the value, as the caller sent it: not blank, but empty for {@link Kind#GLOBAL} and {@link Kind#ANONYMOUS}
     */
    public record Part(Kind kind, String name, String value) {
        /** Checks that the kind has what it needs and nothing else, so that no two parts are stored alike. */
        public Part {
            Objects.requireNonNull(kind, "kind");
            boolean named = NAMED.contains(kind);
            boolean valued = kind != Kind.GLOBAL && kind != Kind.ANONYMOUS;
            if (named ? name.isBlank() || name.length() > LONGEST_NAME : !name.isEmpty()) {
                throw new IllegalArgumentException(
                        named ? "the name must have 1 to " + LONGEST_NAME + " characters" : kind + " has no name");
            }
            if (valued ? value.isBlank() : !value.isEmpty()) {
                throw new IllegalArgumentException(valued ? "the value must not be blank" : kind + " has no value");
            }
        }

        private static final int LONGEST_NAME = 64;

        /** Does not show the value, which can be a secret. */
        @Override
        public String toString() {
            return name.isEmpty() ? kind.prefix() : kind.prefix() + "." + name;
        }
    }

    /** The identity that everyone shares; the key expression {@code global}. */
    public static final Identity GLOBAL = of(Kind.GLOBAL, "", "");

    /** The identity of all callers for whom a key expression does not resolve. */
    public static final Identity ANONYMOUS = of(Kind.ANONYMOUS, "", "");

    /** Copies the list and checks that it is not empty. */
    public Identity {
        parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("an identity needs a part");
        }
    }

    /**
     * An identity that code chose; no key expression resolves to it.
     *
     * @param key any text that is not blank
     * @return the identity
     */
    public static Identity of(String key) {
        return of(Kind.CUSTOM, "", key);
    }

    /**
     * The identity that the key expression {@code principal} gives for a user.
     *
     * @param name the user's name
     * @return the identity
     */
    public static Identity principal(String name) {
        return of(Kind.PRINCIPAL, "", name);
    }

    /**
     * The identity that the key expression {@code ip} gives for an address that is kept whole. Where addresses share a key by
     * prefix, as IPv6 addresses do unless configured otherwise, the address is given as {@code 2001:db8::/64}.
     *
     * @param address an address or a prefix in canonical text
     * @return the identity
     */
    public static Identity address(String address) {
        return of(Kind.ADDRESS, "", address);
    }

    /**
     * The identity that the key expression {@code header:<name>} gives for a value.
     *
     * @param name the header's name, in any case
     * @param value the header's value
     * @return the identity
     */
    public static Identity header(String name, String value) {
        return of(Kind.HEADER, name.toLowerCase(Locale.ROOT), value);
    }

    /**
     * The identity that the key expression {@code arg:<name>} gives for a value.
     *
     * @param name the name in {@link RateLimitKey}
     * @param value the argument's text
     * @return the identity
     */
    public static Identity argument(String name, String value) {
        return of(Kind.ARGUMENT, name, value);
    }

    /**
     * The identity that the key expression {@code cookie:<name>} gives for a value.
     *
     * @param name the cookie's name
     * @param value the cookie's value
     * @return the identity
     */
    public static Identity cookie(String name, String value) {
        return of(Kind.COOKIE, name, value);
    }

    /**
     * The identity that the key expression {@code query:<name>} gives for a value.
     *
     * @param name the name of the parameter of the query
     * @param value its value, decoded
     * @return the identity
     */
    public static Identity query(String name, String value) {
        return of(Kind.QUERY, name, value);
    }

    /**
     * The identity that the key expression {@code path:<name>} gives for a value.
     *
     * @param name the name of the parameter of the path
     * @param value its value, decoded
     * @return the identity
     */
    public static Identity path(String name, String value) {
        return of(Kind.PATH, name, value);
    }

    /**
     * The identity that the key expression {@code claim:<name>} gives for a value.
     *
     * @param name the claim's name
     * @param value the claim's text
     * @return the identity
     */
    public static Identity claim(String name, String value) {
        return of(Kind.CLAIM, name, value);
    }

    /**
     * The identity that the key expression {@code method} gives for a call.
     *
     * @param name {@code Class.method}, with the simple name of the class
     * @return the identity
     */
    public static Identity method(String name) {
        return of(Kind.METHOD, "", name);
    }

    /**
     * The compound of this identity and another, as {@code a + b} in a key expression.
     *
     * @param other the parts to add
     * @return the compound
     */
    public Identity and(Identity other) {
        List<Part> all = new ArrayList<>(parts);
        all.addAll(other.parts);
        return new Identity(all);
    }

    /** Shows the kinds and not the values, which can be secrets. */
    @Override
    public String toString() {
        return "Identity" + parts;
    }

    private static Identity of(Kind kind, String name, String value) {
        return new Identity(List.of(new Part(kind, name, value)));
    }
}
