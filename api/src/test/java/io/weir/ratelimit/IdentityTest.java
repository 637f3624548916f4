// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityTest {

    @Test
    void keysOfDifferentKindsAreDifferent() {
        assertThat(List.of(
                        Identity.of("203.0.113.7"),
                        Identity.principal("203.0.113.7"),
                        Identity.address("203.0.113.7"),
                        Identity.header("x-client", "203.0.113.7"),
                        Identity.argument("x-client", "203.0.113.7"),
                        Identity.cookie("x-client", "203.0.113.7"),
                        Identity.query("x-client", "203.0.113.7"),
                        Identity.path("x-client", "203.0.113.7"),
                        Identity.claim("x-client", "203.0.113.7"),
                        Identity.method("203.0.113.7"),
                        Identity.GLOBAL,
                        Identity.ANONYMOUS))
                .doesNotHaveDuplicates();
    }

    @Test
    void kindsHaveStoredKeyPrefixes() {
        assertThat(Identity.Kind.values())
                .extracting(Identity.Kind::prefix)
                .containsExactly("all", "anon", "p", "i", "h", "a", "c", "q", "u", "t", "m", "k");
    }

    @Test
    void headerNamesIgnoreCaseAndHeaderValuesDoNot() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("tr"));
        try {
            assertThat(Identity.header("X-API-KEY-ID", "s")).isEqualTo(Identity.header("x-api-key-id", "s"));
        } finally {
            Locale.setDefault(before);
        }
        assertThat(Identity.header("x-api-key", "S")).isNotEqualTo(Identity.header("x-api-key", "s"));
        assertThat(Identity.header("a", "s")).isNotEqualTo(Identity.header("b", "s"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Bearer T0ken=",
                "bearer T0ken=",
                "BEARER T0ken=",
                "bEarer T0ken=",
                "Bearer  T0ken=",
                "Bearer \t T0ken=",
                "  Bearer T0ken=  "
            })
    @Tag("field")
    void spellingsOfCredentialsHaveOneKey(String spelling) {
        for (String field : List.of("Authorization", "proxy-authorization")) {
            Identity key = Identity.header(field, "Bearer T0ken=");
            assertThat(Identity.header(field, spelling)).isEqualTo(key);
            assertThat(Identity.header(field, spelling.replace("T0ken", "t0ken")))
                    .as("other credentials")
                    .isNotEqualTo(key);
        }
        assertThat(Identity.header("authorization", "T0ken")).isNotEqualTo(Identity.header("authorization", "t0ken"));
        assertThat(Identity.header("x-key", "A b").parts().get(0).value()).isEqualTo("A b");
    }

    @Test
    void otherNamesAreCaseSensitive() {
        assertThat(Identity.argument("userName", "a")).isNotEqualTo(Identity.argument("username", "a"));
        assertThat(Identity.cookie("Id", "a")).isNotEqualTo(Identity.cookie("id", "a"));
        assertThat(Identity.query("Id", "a")).isNotEqualTo(Identity.query("id", "a"));
        assertThat(Identity.path("Id", "a")).isNotEqualTo(Identity.path("id", "a"));
        assertThat(Identity.claim("Id", "a")).isNotEqualTo(Identity.claim("id", "a"));
    }

    @Test
    void compoundKeyHasItsPartsInOrder() {
        Identity address = Identity.address("203.0.113.7");
        Identity user = Identity.principal("alice");
        assertThat(address.and(user).parts())
                .containsExactly(address.parts().get(0), user.parts().get(0));
        assertThat(address.and(user)).isNotEqualTo(user.and(address));
        assertThat(address.and(user.and(Identity.GLOBAL)))
                .isEqualTo(address.and(user).and(Identity.GLOBAL));
        assertThat(Identity.principal("a").and(Identity.principal("bc")))
                .isNotEqualTo(Identity.principal("ab").and(Identity.principal("c")));
    }

    @Test
    void textShowsKindsAndNoValues() {
        Identity identity = Identity.address("203.0.113.7").and(Identity.header("X-Api-Key", "secret"));
        assertThat(identity).hasToString("Identity[i, h.x-api-key]");
        assertThat(identity.parts().toString()).doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t"})
    void rejectsBlankText(String blank) {
        assertThatThrownBy(() -> Identity.of(blank))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the value must not be blank");
        assertThatThrownBy(() -> Identity.principal(blank)).hasMessage("the value must not be blank");
        assertThatThrownBy(() -> Identity.address(blank)).hasMessage("the value must not be blank");
        assertThatThrownBy(() -> Identity.header(blank, "a")).hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.header("a", blank)).hasMessage("the value must not be blank");
        assertThatThrownBy(() -> Identity.argument("a", blank)).hasMessage("the value must not be blank");
    }

    @Test
    void rejectsNamesAndValuesThatTheKindDoesNotHave() {
        assertThatThrownBy(() -> new Identity.Part(Identity.Kind.PRINCIPAL, "x", "y"))
                .hasMessage("PRINCIPAL has no name");
        assertThatThrownBy(() -> new Identity.Part(Identity.Kind.METHOD, "x", "y"))
                .hasMessage("METHOD has no name");
        assertThatThrownBy(() -> new Identity.Part(Identity.Kind.GLOBAL, "", "v"))
                .hasMessage("GLOBAL has no value");
        assertThatThrownBy(() -> Identity.argument("n".repeat(65), "v"))
                .hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.cookie("", "v")).hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.query("", "v")).hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.path("", "v")).hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.claim("", "v")).hasMessage("the name must have 1 to 64 characters");
        assertThatThrownBy(() -> Identity.claim("plan", " ")).hasMessage("the value must not be blank");
    }

    @Test
    void rejectsAKeyWithoutParts() {
        assertThatThrownBy(() -> new Identity(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a key needs a part");
    }
}
