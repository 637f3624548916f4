// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import io.weir.ratelimit.spi.KeyResolver;
import java.util.Optional;

/**
 * One term of a key expression.
 *
 * @param word the word of the language, empty for a resolver of the application's
 * @param name the name after the word's colon, or that of the resolver
 * @param resolver resolves it, and never throws
 */
record KeyTerm(Optional<KeyWord> word, String name, KeyResolver resolver) {
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
