// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The terms of the key expressions of a deployment. A text that is blank does not resolve, and neither does a term that throws or
 * answers null.
 */
public final class KeyTerms {
    /** The forms of terms, for messages. */
    public static final String FORMS =
            Arrays.stream(KeyWord.values()).map(KeyWord::form).collect(Collectors.joining(", "))
                    + " and the names of KeyResolver beans";

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final Optional<Identity> GLOBAL = Optional.of(Identity.GLOBAL);

    private final int ipv4Prefix;
    private final int ipv6Prefix;
    private final ClientAddress clients;
    private final Map<String, KeyResolver> resolvers;
    private final boolean claims;
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    /**
     * The terms of a deployment without proxies and resolvers of its own.
     *
     * @param ipv4Prefix how many leading bits of an IPv4 address share a key
     * @param ipv6Prefix how many leading bits of an IPv6 address share a key
     */
    public KeyTerms(int ipv4Prefix, int ipv6Prefix) {
        this(ipv4Prefix, ipv6Prefix, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), Map.of(), true);
    }

    /**
     * The terms of a deployment.
     *
     * @param ipv4Prefix how many leading bits of an IPv4 address share a key
     * @param ipv6Prefix how many leading bits of an IPv6 address share a key
     * @param clients finds the address of the client behind proxies
     * @param resolvers the application's own terms by name, of which {@link #isName} is true
     * @param claims whether callers can have claims
     */
    public KeyTerms(
            int ipv4Prefix, int ipv6Prefix, ClientAddress clients, Map<String, KeyResolver> resolvers, boolean claims) {
        this.ipv4Prefix = ipv4Prefix;
        this.ipv6Prefix = ipv6Prefix;
        this.clients = clients;
        this.resolvers = Map.copyOf(resolvers);
        this.claims = claims;
    }

    /**
     * Whether a term of the application's own can have a name.
     *
     * @param name the name
     * @return false if it has other characters than {@code A-Z a-z 0-9 _ . -}, begins with none of {@code A-Z a-z _}, or is a word
     *     of the language
     */
    public static boolean isName(String name) {
        return name.matches("[A-Za-z_][A-Za-z0-9_.-]*") && KeyWord.of(name).isEmpty();
    }

    /**
     * Whether callers can have claims, because MicroProfile JWT is there.
     *
     * @return false if no claim will ever resolve
     */
    public boolean haveClaims() {
        return claims;
    }

    /** The forms of all terms there are. */
    List<String> forms() {
        List<String> forms = new ArrayList<>(
                Arrays.stream(KeyWord.values()).map(KeyWord::form).toList());
        resolvers.keySet().stream().sorted().forEach(forms::add);
        return forms;
    }

    /** The application's own term with a name. */
    Optional<KeyTerm> resolver(String name) {
        return Optional.ofNullable(resolvers.get(name))
                .map(resolver -> safe(Optional.empty(), name, resolver, value -> {
                    throw new IllegalArgumentException("the key term " + name
                            + " is a bean of the application, which alone knows to which key a value leads:"
                            + " name the caller by the key as logs and spans show it");
                }));
    }

    /** A term of the language; the name is empty for words that have none. */
    KeyTerm term(KeyWord word, String name) {
        String canonical = word == KeyWord.HEADER ? name.toLowerCase(Locale.ROOT) : name;
        return safe(
                Optional.of(word),
                canonical,
                resolver(word, canonical),
                new NamedValues(ipv4Prefix, ipv6Prefix).of(word, canonical));
    }

    private KeyResolver resolver(KeyWord word, String name) {
        return switch (word) {
            case GLOBAL -> call -> GLOBAL;
            case IP ->
                call -> clients.of(call.peerAddress(), call::headerLines)
                        .map(address -> Identity.address(address.sharing(ipv4Prefix, ipv6Prefix)));
            case PRINCIPAL -> call -> told(call.principal()).map(Identity::principal);
            case METHOD -> call -> told(call.method()).map(Identity::method);
            // Blanks around a field's value are no part of it (RFC 9110, 5.5), though some servers leave those at the
            // end.
            case HEADER ->
                call -> told(call.header(name).map(String::strip)).map(value -> Identity.header(name, value));
            case COOKIE -> call -> told(call.cookie(name)).map(value -> Identity.cookie(name, value));
            case QUERY -> call -> told(call.queryParameter(name)).map(value -> Identity.query(name, value));
            case PATH -> call -> told(call.pathParameter(name)).map(value -> Identity.path(name, value));
            case CLAIM -> call -> told(call.claim(name)).map(value -> Identity.claim(name, value));
            case ARG ->
                call -> told(call.argument(name).map(Object::toString)).map(value -> Identity.argument(name, value));
        };
    }

    private static Optional<String> told(Optional<String> value) {
        return value.filter(text -> !text.isBlank());
    }

    private KeyTerm safe(Optional<KeyWord> word, String name, KeyResolver resolver, Function<String, Identity> named) {
        KeyTerm term = new KeyTerm(word, name, resolver, named);
        return new KeyTerm(word, name, call -> resolve(term, call), named);
    }

    /** Who makes the call by a term. A key that fails must neither fail the call nor let it pass unlimited. */
    private Optional<Identity> resolve(KeyTerm term, CallContext call) {
        try {
            Optional<Identity> identity = term.resolver().resolve(call);
            if (identity != null) {
                return identity;
            }
            warn(term, "returned null", null);
        } catch (Exception | LinkageError | StackOverflowError e) {
            warn(term, "failed", e);
        }
        return Optional.empty();
    }

    private void warn(KeyTerm term, String what, @Nullable Throwable thrown) {
        if (failed.add(term.toString())) {
            MESSAGES.log(LOG, thrown, "WEIR-305", term, what);
        }
    }
}
