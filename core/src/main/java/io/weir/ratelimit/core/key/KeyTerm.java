// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A term of a key expression.
 *
 * @param word the word of the key language; empty for a resolver of the application
 * @param name the name after the colon of the word, or the name of the resolver
 * @param resolver resolves the term; never throws an exception
 * @param named returns the key for a value that an operator enters; throws an {@link IllegalArgumentException} if there is none
 * @param source the text that alone determines the key; {@link Source#NONE} if there is none, or if it is a secret
 * @param use watches whether the term resolves
 */
record KeyTerm(
        Optional<KeyWord> word,
        String name,
        KeyResolver resolver,
        Function<String, Identity> named,
        Source source,
        TermUse use) {
    /**
     * The text that alone determines a key.
     *
     * @param text returns the text of a call; null if it does not determine the key
     */
    record Source(Function<CallContext, @Nullable String> text, Function<String, Optional<Identity>> key) {
        static final Source NONE = new Source(call -> null, text -> Optional.empty());
    }

    boolean is(KeyWord other) {
        return word.filter(other::equals).isPresent();
    }

    /** Returns the canonical text. */
    @Override
    public String toString() {
        return word.map(known -> known.isNamed() ? known.text() + ":" + name : known.text())
                .orElse(name);
    }
}
