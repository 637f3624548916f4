// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The terms of the key expressions of a deployment. */
public final class KeyTerms {
    /** The forms of terms, for messages. */
    public static final String FORMS =
            Arrays.stream(KeyWord.values()).map(KeyWord::form).collect(Collectors.joining(", "))
                    + " and the names of KeyResolver beans";

    private static final Optional<Identity> GLOBAL = Optional.of(Identity.GLOBAL);

    /** Whether the public {@code toString} of a class is not that of {@link Object}. */
    private static final ClassValue<Boolean> TEXTS = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException("every class has toString", e);
            }
        }
    };

    private final int ipv4Prefix;
    private final int ipv6Prefix;
    private final ClientAddress clients;
    private final Map<String, KeyResolver> resolvers;
    private final boolean claims;
    private final String place;
    private final Set<String> reported;

    /** Creates the terms of a deployment without proxies and without resolvers. */
    public KeyTerms(int ipv4Prefix, int ipv6Prefix) {
        this(ipv4Prefix, ipv6Prefix, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), Map.of(), true);
    }

    /**
     * Creates the terms of a deployment, in which callers can have claims or not.
     *
     * @param ipv4Prefix the number of leading bits of an IPv4 address that share a key
     * @param ipv6Prefix the number of leading bits of an IPv6 address that share a key
     * @param resolvers the terms of the application by name; {@link #isName} is true for each name
     */
    public KeyTerms(
            int ipv4Prefix, int ipv6Prefix, ClientAddress clients, Map<String, KeyResolver> resolvers, boolean claims) {
        this(ipv4Prefix, ipv6Prefix, clients, Map.copyOf(resolvers), claims, "", ConcurrentHashMap.newKeySet());
    }

    private KeyTerms(
            int ipv4Prefix,
            int ipv6Prefix,
            ClientAddress clients,
            Map<String, KeyResolver> resolvers,
            boolean claims,
            String place,
            Set<String> reported) {
        this.ipv4Prefix = ipv4Prefix;
        this.ipv6Prefix = ipv6Prefix;
        this.clients = clients;
        this.resolvers = resolvers;
        this.claims = claims;
        this.place = place;
        this.reported = reported;
    }

    /** Returns the terms of one expression, whose property or annotation messages about terms that do not resolve name. */
    public KeyTerms at(String expressionPlace) {
        return new KeyTerms(ipv4Prefix, ipv6Prefix, clients, resolvers, claims, expressionPlace, reported);
    }

    /**
     * Tests whether a term of the application can have a name; false if it has other characters than {@code A-Z a-z 0-9 _ . -}, does not
     * begin with one of {@code A-Z a-z _}, or is a word of the key language.
     */
    public static boolean isName(String name) {
        return name.matches("[A-Za-z_][A-Za-z0-9_.-]*") && KeyWord.of(name).isEmpty();
    }

    /** Returns the problem of the name of a key resolver, if the name is no key term. */
    public static Optional<ConfigurationProblem> problemOf(String name, String place) {
        return isName(name) ? Optional.empty() : Optional.of(MESSAGES.problem("WEIR-213.term", place, name, FORMS));
    }

    /** Tests whether callers can have claims, because MicroProfile JWT or OpenID Connect of Jakarta Security is available. */
    public boolean haveClaims() {
        return claims;
    }

    List<String> forms() {
        List<String> forms = new ArrayList<>(
                Arrays.stream(KeyWord.values()).map(KeyWord::form).toList());
        resolvers.keySet().stream().sorted().forEach(forms::add);
        return forms;
    }

    Optional<KeyTerm> resolver(String name) {
        return Optional.ofNullable(resolvers.get(name))
                .map(resolver -> new KeyTerm(
                        Optional.empty(),
                        name,
                        resolver,
                        value -> {
                            throw new IllegalArgumentException("the key term " + name
                                    + " is a bean of the application, so a value does not determine the key:"
                                    + " enter the key as logs and spans show it");
                        },
                        KeyTerm.Source.NONE,
                        place,
                        reported));
    }

    /** Returns a term of the key language; the name is empty for words without a name. */
    KeyTerm term(KeyWord word, String name) {
        String canonical = word == KeyWord.HEADER ? name.toLowerCase(Locale.ROOT) : name;
        return new KeyTerm(
                Optional.of(word),
                canonical,
                resolver(word, canonical),
                new NamedValues(ipv4Prefix, ipv6Prefix).of(word, canonical),
                source(word),
                place,
                reported);
    }

    private KeyTerm.Source source(KeyWord word) {
        return switch (word) {
            case GLOBAL -> new KeyTerm.Source(call -> "", text -> GLOBAL);
            case IP ->
                new KeyTerm.Source(
                        call -> clients.onlyPeer(call.peerAddress(), call::headerLines),
                        text -> IpAddress.ofPeer(text).map(this::key));
            case PRINCIPAL ->
                new KeyTerm.Source(
                        call -> call.principal().orElse(""),
                        text -> nonBlank(Optional.of(text)).map(Identity::principal));
            default -> KeyTerm.Source.NONE;
        };
    }

    private Identity key(IpAddress address) {
        return Identity.address(address.sharing(ipv4Prefix, ipv6Prefix));
    }

    private KeyResolver resolver(KeyWord word, String name) {
        return switch (word) {
            case GLOBAL -> call -> GLOBAL;
            case IP -> call -> clients.of(call.peerAddress(), call::headerLines).map(this::key);
            case PRINCIPAL -> call -> nonBlank(call.principal()).map(Identity::principal);
            case METHOD -> call -> nonBlank(call.method()).map(Identity::method);
            // Blanks around a field value are not part of it (RFC 9110, 5.5), but some servers keep those at the end.
            case HEADER ->
                call -> nonBlank(call.header(name).map(String::strip)).map(value -> Identity.header(name, value));
            case COOKIE ->
                call -> nonBlank(call.cookie(name).filter(value -> !isAmbiguous(call, name)))
                        .map(value -> Identity.cookie(name, value));
            case QUERY -> call -> nonBlank(call.queryParameter(name)).map(value -> Identity.query(name, value));
            case PATH -> call -> nonBlank(call.pathParameter(name)).map(value -> Identity.path(name, value));
            case CLAIM -> call -> nonBlank(call.claim(name)).map(value -> Identity.claim(name, value));
            case ARG ->
                call -> nonBlank(call.argument(name).map(KeyTerms::text)).map(value -> Identity.argument(name, value));
        };
    }

    /** Tests whether a request has several values of a cookie: its session and Jakarta REST can use different ones. */
    private static boolean isAmbiguous(CallContext call, String cookie) {
        return call.headerLines("Cookie").stream()
                        .flatMap(line -> Arrays.stream(line.split("[;,]")))
                        .map(pair -> pair.split("=", 2))
                        .filter(pair -> pair.length == 2 && pair[0].strip().equals(cookie))
                        .map(pair -> pair[1].strip())
                        .distinct()
                        .count()
                > 1;
    }

    /**
     * Tests whether the values of a class have a text of their own; false for an array as well. The text of {@link Object} is different for
     * equal values, so each call would have a key of its own.
     */
    public static boolean hasText(Class<?> type) {
        return type.isPrimitive() || TEXTS.get(type);
    }

    private static String text(Object argument) {
        if (!hasText(argument.getClass())) {
            throw new IllegalArgumentException(argument.getClass().getName() + " does not override toString");
        }
        return argument.toString();
    }

    private static Optional<String> nonBlank(Optional<String> value) {
        return value.filter(text -> !text.isBlank());
    }
}
