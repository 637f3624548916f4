// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.cdi.Tokens;
import io.weir.ratelimit.runtime.ApplicationLoader;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.json.JsonNumber;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import jakarta.json.JsonValue.ValueType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ClaimsTest {
    private static Optional<String> text(Object value) {
        return Claims.of(Tokens.of("x", value), "x");
    }

    private static <T extends JsonValue> T json(Class<T> type, ValueType kind, String text) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> method.getName().equals("getValueType") ? kind : text));
    }

    @Test
    void returnsStringsNumbersAndBooleansAsText() {
        assertThat(text("free")).contains("free");
        assertThat(text(42L)).contains("42");
        assertThat(text(true)).contains("true");
        assertThat(text(json(JsonString.class, ValueType.STRING, "free \"x\""))).contains("free \"x\"");
        assertThat(text(json(JsonNumber.class, ValueType.NUMBER, "42"))).contains("42");
        assertThat(text(JsonValue.TRUE)).contains("true");
        assertThat(text(JsonValue.FALSE)).contains("false");
        assertThat(text("null")).contains("null");
    }

    @Test
    void returnsNoTextForOtherValues() {
        assertThat(text(null)).isEmpty();
        assertThat(text(JsonValue.NULL)).isEmpty();
        assertThat(text(Set.of("a", "b"))).isEmpty();
        assertThat(text(List.of(List.of("a")))).isEmpty();
        assertThat(text(List.of())).isEmpty();
        assertThat(text(JsonValue.EMPTY_JSON_ARRAY)).isEmpty();
        assertThat(text(JsonValue.EMPTY_JSON_OBJECT)).isEmpty();
        assertThat(Claims.of(Tokens.of("x", "v"), "y")).isEmpty();
        assertThat(Claims.of(() -> "alice", "x")).isEmpty();
    }

    @Test
    @Tag("field")
    void anArrayWithOneElementIsThatElement() {
        assertThat(text(Set.of("shop"))).contains("shop");
        assertThat(text(List.of(json(JsonString.class, ValueType.STRING, "gold"))))
                .contains("gold");
        assertThat(text(List.of(JsonValue.NULL))).isEmpty();
    }

    @Test
    @Tag("field")
    void dotsLeadToAClaimInAnObject() {
        Map<String, Object> user = Map.of("email", "ann@example.org", "org", Map.of("id", 7));
        assertThat(Claims.of(Tokens.of("user", user), "user.email")).contains("ann@example.org");
        assertThat(Claims.of(Tokens.of("user", user), "user.org.id")).contains("7");
        assertThat(Claims.of(Tokens.of("user", user), "user.org")).isEmpty();
        assertThat(Claims.of(Tokens.of("user", user), "user.")).isEmpty();
        assertThat(Claims.of(Tokens.of("user", "ann"), "user.email")).isEmpty();
        assertThat(Claims.of(Tokens.of("user.email", "ben"), "user.email")).contains("ben");
        assertThat(Claims.of(Tokens.of("https://example.org/plan", "gold"), "https://example.org/plan"))
                .contains("gold");
    }

    /** Simulates a server whose MicroProfile JWT is not visible to the application. */
    @Test
    void withoutTheApiThereAreNoClaims() throws Exception {
        URL classes = Claims.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader withoutApi = new ClassLoader(Claims.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.startsWith("org.eclipse.microprofile.jwt.") || name.contains(".openid.")) {
                    throw new ClassNotFoundException(name);
                }
                return name.startsWith("io.weir.") ? own(name) : super.loadClass(name, resolve);
            }

            private Class<?> own(String name) throws ClassNotFoundException {
                throw new ClassNotFoundException(name);
            }
        };
        URL core = ApplicationLoader.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes, core}, withoutApi)) {
            Class<?> claims = loader.loadClass(Claims.class.getName());
            assertThat(claims).isNotSameAs(Claims.class);
            Method available = claims.getDeclaredMethod("areAvailable", BeanManager.class);
            available.setAccessible(true);
            assertThat(available.invoke(null, new Object[] {null})).isEqualTo(false);
            Method of = claims.getDeclaredMethod("of", Principal.class, String.class);
            of.setAccessible(true);
            assertThat(of.invoke(null, Tokens.of("x", "v"), "x")).isEqualTo(Optional.empty());
        }
    }
}
