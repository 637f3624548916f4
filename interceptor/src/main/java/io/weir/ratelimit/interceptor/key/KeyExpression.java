// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Who shares a limit: {@code a + b} is a compound of both, {@code a | b} the first that resolves; {@code +} binds tighter. A
 * compound resolves if all of its parts do.
 */
public final class KeyExpression {
    private final String text;
    private final List<List<KeyResolver>> alternatives;
    private final Set<String> arguments;

    private KeyExpression(String text, List<List<KeyResolver>> alternatives, Set<String> arguments) {
        this.text = text;
        this.alternatives = alternatives;
        this.arguments = Set.copyOf(arguments);
    }

    /**
     * Reads an expression.
     *
     * @param text the expression
     * @param terms the terms it may use
     * @return the expression
     * @throws IllegalArgumentException if it has another form or an unknown term, with the position in the text
     */
    public static KeyExpression parse(String text, KeyTerms terms) {
        List<List<KeyResolver>> alternatives = new ArrayList<>();
        Set<String> arguments = new HashSet<>();
        int position = 1;
        for (String alternative : text.split("\\|", -1)) {
            List<KeyResolver> compound = new ArrayList<>();
            for (String term : alternative.split("\\+", -1)) {
                try {
                    compound.add(terms.resolver(term.strip()));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("at character " + position + ": " + e.getMessage(), e);
                }
                KeyTerms.argument(term.strip()).ifPresent(arguments::add);
                position += term.length() + 1;
            }
            alternatives.add(List.copyOf(compound));
        }
        return new KeyExpression(text, List.copyOf(alternatives), arguments);
    }

    /**
     * Whether the expression can only be resolved where the arguments of the called method are known.
     *
     * @return true if it uses one
     */
    public boolean needsArguments() {
        return !arguments.isEmpty();
    }

    public boolean isEarly() {
        return true;
    }

    public boolean isCompound() {
        return false;
    }

    public Optional<String> value(CallContext call) {
        return Optional.of(resolve(call).parts().get(0).value());
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
     * Who makes a call.
     *
     * @param call what is known about it
     * @return the identity, {@link Identity#ANONYMOUS} if no alternative resolves
     */
    public Identity resolve(CallContext call) {
        for (List<KeyResolver> compound : alternatives) {
            Optional<Identity> identity = resolve(compound, call);
            if (identity.isPresent()) {
                return identity.get();
            }
        }
        return Identity.ANONYMOUS;
    }

    private static Optional<Identity> resolve(List<KeyResolver> compound, CallContext call) {
        Optional<Identity> identity = compound.get(0).resolve(call);
        for (int i = 1; i < compound.size() && identity.isPresent(); i++) {
            Optional<Identity> next = compound.get(i).resolve(call);
            identity = identity.flatMap(before -> next.map(before::and));
        }
        return identity;
    }

    /** Whether both are written alike. */
    @Override
    public boolean equals(Object other) {
        return other instanceof KeyExpression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
