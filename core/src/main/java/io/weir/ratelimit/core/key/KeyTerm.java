// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Optional;
import java.util.function.Function;

/**
 * One term of a key expression.
 *
 * @param word the word of the language, empty for a resolver of the application's
 * @param name the name after the word's colon, or that of the resolver
 * @param resolver resolves it, and never throws
 * @param named the identity that it resolves to for a caller with a value, which is written by a person; throws if it cannot
 */
record KeyTerm(Optional<KeyWord> word, String name, KeyResolver resolver, Function<String, Identity> named) {
    boolean is(KeyWord other) {
        return word.filter(other::equals).isPresent();
    }

    /** The canonical text. */
    @Override
    public String toString() {
        return word.map(known -> known.isNamed() ? known.text() + ":" + name : known.text())
                .orElse(name);
    }
}
