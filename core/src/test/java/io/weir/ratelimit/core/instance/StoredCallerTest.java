// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredCallerTest {
    @ParameterizedTest
    @ValueSource(strings = {"p.{x}", "p.x:y", "p. x", "p.\n", ""})
    void rejectsCharactersThatEndAKeyOfTheBackend(String storedKey) {
        assertThatThrownBy(() -> new StoredCaller("plan", storedKey, "p"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the stored key is invalid");
    }

    @Test
    void itsTextHidesTheStoredKey() {
        assertThat(new StoredCaller("plan", "p.alice", "p.~a")).hasToString("Caller[plan, p.~a]");
    }
}
