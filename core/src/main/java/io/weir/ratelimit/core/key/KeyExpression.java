// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Who shares a limit: {@code a + b} is a compound of both, {@code a | b} the first that resolves; {@code +} binds tighter. A
 * compound resolves if all of its parts do. Two expressions are equal if they have the same terms.
 */
public final class KeyExpression {
    /** What is known of a request before it is matched to a method and its caller is authenticated. */
    private static final Set<KeyWord> EARLY = EnumSet.of(KeyWord.GLOBAL, KeyWord.IP, KeyWord.HEADER);

    private final String text;
    private final List<List<KeyTerm>> alternatives;
    private final Set<String> arguments;

    private KeyExpression(List<List<KeyTerm>> alternatives) {
        this.alternatives = alternatives;
        this.text = alternatives.stream()
                .map(compound -> compound.stream().map(KeyTerm::toString).collect(Collectors.joining(" + ")))
                .collect(Collectors.joining(" | "));
        this.arguments = allTerms()
                .filter(term -> term.is(KeyWord.ARG))
                .map(KeyTerm::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Reads an expression.
     *
     * @param text the expression
     * @param terms the terms it may use
     * @return the expression
     * @throws IllegalArgumentException if it has another form or an unknown term, with the position of the first character that is
     *     wrong, counted from 1, and what was expected there
     */
    public static KeyExpression parse(String text, KeyTerms terms) {
        return new KeyExpression(new KeyParser(text, terms).alternatives());
    }

    private Stream<KeyTerm> allTerms() {
        return alternatives.stream().flatMap(List::stream);
    }

    private boolean uses(Predicate<KeyTerm> kind) {
        return allTerms().anyMatch(kind);
    }

    /**
     * Whether the expression can only be resolved where the arguments of the called method are known.
     *
     * @return true if it uses one
     */
    public boolean needsArguments() {
        return !arguments.isEmpty();
    }

    /**
     * The names of the arguments that the expression uses.
     *
     * @return the names after {@code arg:}
     */
    public Set<String> arguments() {
        return arguments;
    }

    /**
     * Whether the expression can be resolved before a request is matched to a method and its caller is authenticated.
     *
     * @return true if it uses {@code global}, {@code ip} and {@code header:} only
     */
    public boolean isEarly() {
        return !uses(term -> term.word().filter(EARLY::contains).isEmpty());
    }

    /**
     * Whether the expression uses claims, which only MicroProfile JWT tells.
     *
     * @return true if it uses {@code claim:}
     */
    public boolean usesClaims() {
        return uses(term -> term.is(KeyWord.CLAIM));
    }

    /**
     * Whether the expression uses headers, whose values should be hashed under a secret.
     *
     * @return true if it uses {@code header:}
     */
    public boolean usesHeader() {
        return uses(term -> term.is(KeyWord.HEADER));
    }

    /**
     * Whether an alternative of the expression joins terms.
     *
     * @return true if it uses {@code +}
     */
    public boolean isCompound() {
        return alternatives.stream().anyMatch(compound -> compound.size() > 1);
    }

    /**
     * The terms of each alternative, in order.
     *
     * @return such as {@code [[principal], [ip, arg:user]]}
     */
    public List<List<String>> terms() {
        return alternatives.stream()
                .map(compound -> compound.stream().map(KeyTerm::toString).toList())
                .toList();
    }

    /**
     * The identity of calls for which an alternative resolves to values that a person has written.
     *
     * @param alternative its position, from 0
     * @param values one for each of its terms, in order; that of {@code global} is empty
     * @return the identity, with addresses in the form and with the prefix under which they share a key
     * @throws IllegalArgumentException if a value does not fit its term, or a term is the application's own
     */
    public Identity named(int alternative, List<String> values) {
        if (alternative < 0 || alternative >= alternatives.size()) {
            throw new IllegalArgumentException("the key " + text + " has no alternative " + alternative);
        }
        List<KeyTerm> compound = alternatives.get(alternative);
        if (values.size() != compound.size()) {
            throw new IllegalArgumentException("the key " + terms().get(alternative) + " has " + compound.size()
                    + " values, and " + values.size() + " are given");
        }
        Identity identity = compound.get(0).named().apply(values.get(0));
        for (int i = 1; i < compound.size(); i++) {
            identity = identity.and(compound.get(i).named().apply(values.get(i)));
        }
        return identity;
    }

    /**
     * Who makes a call.
     *
     * @param call what is known about it
     * @return the identity, {@link Identity#ANONYMOUS} if no alternative resolves
     */
    public Identity resolve(CallContext call) {
        return find(call).orElse(Identity.ANONYMOUS);
    }

    /**
     * The value of the first alternative that resolves, such as a caller's plan.
     *
     * @param call what is known about it
     * @return the value as it was sent or told; empty if nothing resolves, or to something that is not exactly one value
     */
    public Optional<String> value(CallContext call) {
        return find(call)
                .filter(identity -> identity.parts().size() == 1)
                .map(identity -> identity.parts().get(0).value())
                .filter(value -> !value.isEmpty());
    }

    private Optional<Identity> find(CallContext call) {
        for (List<KeyTerm> compound : alternatives) {
            Optional<Identity> identity = find(compound, call);
            if (identity.isPresent()) {
                return identity;
            }
        }
        return Optional.empty();
    }

    private static Optional<Identity> find(List<KeyTerm> compound, CallContext call) {
        Optional<Identity> identity = compound.get(0).resolver().resolve(call);
        for (int i = 1; i < compound.size() && identity.isPresent(); i++) {
            Optional<Identity> next = compound.get(i).resolver().resolve(call);
            identity = identity.flatMap(before -> next.map(before::and));
        }
        return identity;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyExpression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The canonical text, which reads as the same expression. */
    @Override
    public String toString() {
        return text;
    }
}
