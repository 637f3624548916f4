// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KeyMaskerTest {
    private static final Optional<String> SECRET = Optional.of("0123456789abcdef");

    private final KeyMasker keys = new KeyMasker(Optional.empty());

    @Test
    void theKindIsShownAndTheValueIsHashed() {
        assertThat(keys.of("p.alice")).matches("p\\.~[A-Za-z0-9_-]{22}");
        assertThat(keys.of("h.X-Api-Key.~abc")).matches("h\\.~[A-Za-z0-9_-]{22}");
    }

    @Test
    void theMaskedKeyOfAKeyIsConstantAndUnique() {
        assertThat(keys.of("p.alice")).isEqualTo(keys.of("p.alice")).isNotEqualTo(keys.of("p.bob"));
        assertThat(keys.of("p.10.0.0.1").substring(2))
                .isNotEqualTo(keys.of("i.10.0.0.1").substring(2));
    }

    /** Both keys have the same hash code, so one replaces the other in the cache. */
    @Test
    void keysInOnePlaceOfTheCacheHaveDifferentMaskedKeys() {
        assertThat("p.Aa".hashCode()).isEqualTo("p.BB".hashCode());
        String first = keys.of("p.Aa");
        assertThat(keys.of("p.BB")).isNotEqualTo(first);
        assertThat(keys.of("p.Aa")).isEqualTo(first);
    }

    @Test
    void theHashHasARandomSecretWithoutAKeySecret() {
        assertThat(keys.of("p.alice")).isNotEqualTo(new KeyMasker(Optional.empty()).of("p.alice"));
    }

    @Test
    void theKeysThatAllCallersShareAreNotHashed() {
        assertThat(keys.of("anon")).isEqualTo("anon");
        assertThat(keys.of("all")).isEqualTo("all");
    }

    @Test
    void theMaskedKeyIsTheStoredKeyWithAKeySecret() {
        String stored = new IdentityEncoder(SECRET).encode(Identity.principal("alice"));
        assertThat(new KeyMasker(SECRET).of(stored)).isEqualTo(stored).doesNotContain("alice");
    }
}
