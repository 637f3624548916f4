// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuthenticatedUserTest {
    /** Helidon, WebLogic, WildFly, GlassFish and Payara, Open Liberty, TomEE; blank names. */
    @ParameterizedTest
    @ValueSource(
            strings = {"<ANONYMOUS>", "<anonymous>", "anonymous", "ANONYMOUS", "UNAUTHENTICATED", "guest", "", " \t"})
    @Tag("field")
    void aNameForNobodyIsNoUser(String name) {
        assertThat(AuthenticatedUser.of(() -> name, () -> null)).isNull();
    }

    @Test
    void aServerCanAuthenticateAUserWithSuchAName() {
        assertThat(AuthenticatedUser.of(() -> "guest", () -> "BASIC"))
                .extracting(AuthenticatedUser::name)
                .isEqualTo("guest");
        assertThat(AuthenticatedUser.of(() -> "guests", () -> {
                    throw new AssertionError("not asked for other names");
                }))
                .hasToString("AuthenticatedUser");
    }

    @Test
    void aServerCanReturnNobody() {
        assertThat(AuthenticatedUser.of(null, () -> "BASIC")).isNull();
        assertThat(AuthenticatedUser.of(new Nameless(), () -> "BASIC")).isNull();
    }

    private static final class Nameless implements java.security.Principal {
        @Override
        @SuppressWarnings("NullAway") // as some servers do
        public String getName() {
            return null;
        }
    }
}
