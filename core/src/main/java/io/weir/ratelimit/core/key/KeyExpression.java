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
import org.jspecify.annotations.Nullable;

/**
 * An expression for the key of a call. {@code a + b} is a compound of both keys, {@code a | b} is the first key that resolves;
 * {@code +} binds tighter. A compound resolves if all of its parts resolve. Two expressions are equal if they have the same
 * terms.
 */
public final class KeyExpression {
    /** The terms that are known before a request is matched to a method and its caller is authenticated. */
    private static final Set<KeyWord> EARLY = EnumSet.of(KeyWord.GLOBAL, KeyWord.IP, KeyWord.HEADER);

    /** The terms that only a called resource has. */
    private static final Set<KeyWord> OF_RESOURCE = EnumSet.of(KeyWord.ARG, KeyWord.PATH, KeyWord.METHOD);

    private final String text;
    private final List<List<KeyTerm>> alternatives;
    private final Set<String> arguments;

    private final boolean callsResolver;

    /** The only term of the expression, null if it has several. */
    private final @Nullable KeyTerm onlyTerm;

    private KeyExpression(List<List<KeyTerm>> alternatives) {
        this.alternatives = alternatives;
        this.onlyTerm = alternatives.size() == 1 && alternatives.get(0).size() == 1
                ? alternatives.get(0).get(0)
                : null;
        this.text = alternatives.stream()
                .map(compound -> compound.stream().map(KeyTerm::toString).collect(Collectors.joining(" + ")))
                .collect(Collectors.joining(" | "));
        this.arguments = allTerms()
                .filter(term -> term.is(KeyWord.ARG))
                .map(KeyTerm::name)
                .collect(Collectors.toUnmodifiableSet());
        this.callsResolver = uses(term -> term.word().isEmpty());
    }

    /**
     * Parses an expression.
     *
     * @throws IllegalArgumentException if the text has another form or an unknown term. The message has the position of the first wrong
     *     character, counted from 1
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

    /** Tests whether the expression can be resolved only when the arguments of the called method are known. */
    public boolean needsArguments() {
        return !arguments.isEmpty();
    }

    /** Returns the names of the arguments that the expression uses, without {@code arg:}. */
    public Set<String> arguments() {
        return arguments;
    }

    /** Tests whether the key depends on the called resource, by an argument, a path parameter or the method, and not only on the caller. */
    public boolean dependsOnResource() {
        return uses(term -> term.word().filter(OF_RESOURCE::contains).isPresent());
    }

    /**
     * Tests whether the expression uses only {@code global}, {@code ip} and {@code header:}, which are known before a request is matched to
     * a method and its caller is authenticated.
     */
    public boolean isEarly() {
        return !uses(term -> term.word().filter(EARLY::contains).isEmpty());
    }

    /** Tests whether the expression uses claims, which only some logins provide. */
    public boolean usesClaims() {
        return uses(term -> term.is(KeyWord.CLAIM));
    }

    /** Tests whether the expression uses headers, whose values should be hashed with a key secret. */
    public boolean usesHeader() {
        return uses(term -> term.is(KeyWord.HEADER));
    }

    /** Tests whether the application determines a term, with code that can block. */
    public boolean callsResolver() {
        return callsResolver;
    }

    /** Tests whether all callers have the key {@code global}. */
    public boolean isGlobal() {
        return onlyTerm != null && onlyTerm.is(KeyWord.GLOBAL);
    }

    /** Tests whether an alternative of the expression joins terms with {@code +}. */
    public boolean isCompound() {
        return alternatives.stream().anyMatch(compound -> compound.size() > 1);
    }

    /** Returns the terms of each alternative, in order, such as {@code [[principal], [ip, arg:user]]}. */
    public List<List<String>> terms() {
        return alternatives.stream()
                .map(compound -> compound.stream().map(KeyTerm::toString).toList())
                .toList();
    }

    /**
     * Returns the key of calls for which an alternative, counted from 0, resolves to given values, such as those that an operator enters.
     * There is one value per term, in order, and none for {@code global}. An address gets the form and the prefix by which it shares a key.
     *
     * @throws IllegalArgumentException if a value does not fit its term, or if a term is a bean of the application
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
        Identity key = compound.get(0).named(values.get(0));
        for (int i = 1; i < compound.size(); i++) {
            key = key.and(compound.get(i).named(values.get(i)));
        }
        return key;
    }

    /** Returns the key of a call; {@link Identity#ANONYMOUS} if no alternative resolves. */
    public Identity resolve(CallContext call) {
        return find(call, KeyTerm::missed).orElse(Identity.ANONYMOUS);
    }

    /**
     * Returns the value of the first alternative that resolves, such as the plan of a caller; empty if no alternative resolves, or if the
     * key does not have exactly one value.
     */
    public Optional<String> value(CallContext call) {
        return find(call, KeyExpression::missedTier)
                .filter(key -> key.parts().size() == 1)
                .map(key -> key.parts().get(0).value())
                .filter(value -> !value.isEmpty());
    }

    /**
     * Returns the text that alone determines the key of a call, for caches; null if the key depends on more than one text, or on a secret.
     * Another expression has another key for the same text.
     */
    public @Nullable String source(CallContext call) {
        if (onlyTerm == null) {
            return null;
        }
        String source = onlyTerm.source(call);
        if (source != null) {
            if (source.isEmpty() && !onlyTerm.is(KeyWord.GLOBAL)) {
                onlyTerm.missed(call, true);
            } else {
                onlyTerm.resolved();
            }
        }
        return source;
    }

    /** Returns the key of a text of {@link #source}; {@link Identity#ANONYMOUS} if the text does not resolve. */
    public Identity ofSource(String source) {
        return onlyTerm == null ? Identity.ANONYMOUS : onlyTerm.ofSource(source).orElse(Identity.ANONYMOUS);
    }

    /** Records that a term did not resolve. */
    private interface Miss {
        void record(KeyTerm term, CallContext call, boolean last);
    }

    private static void missedTier(KeyTerm term, CallContext call, boolean last) {
        if (last) {
            term.missedTier(call);
        }
    }

    private Optional<Identity> find(CallContext call, Miss miss) {
        int last = alternatives.size() - 1;
        for (int i = 0; i < last; i++) {
            Optional<Identity> key = find(alternatives.get(i), call, miss, false);
            if (key.isPresent()) {
                return key;
            }
        }
        return find(alternatives.get(last), call, miss, true);
    }

    private static Optional<Identity> find(List<KeyTerm> compound, CallContext call, Miss miss, boolean last) {
        Optional<Identity> key = find(compound.get(0), call, miss, last);
        for (int i = 1; i < compound.size() && key.isPresent(); i++) {
            Optional<Identity> next = find(compound.get(i), call, miss, last);
            key = key.flatMap(before -> next.map(before::and));
        }
        return key;
    }

    private static Optional<Identity> find(KeyTerm term, CallContext call, Miss miss, boolean last) {
        Optional<Identity> key = term.resolve(call);
        if (key.isPresent()) {
            term.resolved();
        } else {
            miss.record(term, call, last);
        }
        return key;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyExpression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** Returns the canonical text, which parses to an equal expression. */
    @Override
    public String toString() {
        return text;
    }
}
