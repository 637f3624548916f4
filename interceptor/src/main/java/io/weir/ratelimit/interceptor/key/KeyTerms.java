// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Optional;
import java.util.regex.Pattern;

/** The terms of key expressions. A text that is blank does not resolve. */
public final class KeyTerms {
    /** The forms of terms, for messages. */
    public static final String FORMS = "global, ip, principal, header:<name>, arg:<name>";

    private static final String ARGUMENT = "arg:";
    private static final String HEADER = "header:";
    /** RFC 9110, 5.1: a field name is a token. */
    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`~-]{1,64}");

    private static final Pattern ARGUMENT_NAME = Pattern.compile("[A-Za-z0-9._$-]{1,64}");
    private static final Optional<Identity> GLOBAL = Optional.of(Identity.GLOBAL);

    private final int ipv4Prefix;
    private final int ipv6Prefix;

    /**
     * The terms of a deployment.
     *
     * @param ipv4Prefix how many leading bits of an IPv4 address share a key
     * @param ipv6Prefix how many leading bits of an IPv6 address share a key
     */
    public KeyTerms(int ipv4Prefix, int ipv6Prefix) {
        this.ipv4Prefix = ipv4Prefix;
        this.ipv6Prefix = ipv6Prefix;
    }

    /** The name of the argument that a term uses, if it uses one. */
    static Optional<String> argument(String term) {
        return term.startsWith(ARGUMENT) ? Optional.of(term.substring(ARGUMENT.length())) : Optional.empty();
    }

    /**
     * What a term stands for.
     *
     * @param term the term, without blanks around it
     * @return its resolver
     * @throws IllegalArgumentException if there is no such term
     */
    KeyResolver resolver(String term) {
        if (term.startsWith(HEADER)) {
            String name = checked(term, HEADER, FIELD_NAME);
            // Blanks around a field's value are no part of it (RFC 9110, 5.5), though some servers leave those at the
            // end.
            return call -> call.header(name)
                    .map(String::strip)
                    .filter(value -> !value.isEmpty())
                    .map(value -> Identity.header(name, value));
        }
        if (term.startsWith(ARGUMENT)) {
            String name = checked(term, ARGUMENT, ARGUMENT_NAME);
            return call -> call.argument(name)
                    .map(Object::toString)
                    .filter(value -> !value.isBlank())
                    .map(value -> Identity.argument(name, value));
        }
        return switch (term) {
            case "global" -> call -> GLOBAL;
            case "ip" ->
                call -> call.peerAddress()
                        .flatMap(IpAddress::parse)
                        .map(address -> Identity.address(address.sharing(ipv4Prefix, ipv6Prefix)));
            case "principal" ->
                call -> call.principal().filter(name -> !name.isBlank()).map(Identity::principal);
            default ->
                throw new IllegalArgumentException(
                        term.isEmpty() ? "a term is missing" : "there is no key term \"" + term + "\"");
        };
    }

    private static String checked(String term, String prefix, Pattern form) {
        String name = term.substring(prefix.length());
        if (!form.matcher(name).matches()) {
            throw new IllegalArgumentException("\"" + term + "\" needs a name after " + prefix);
        }
        return name;
    }
}
