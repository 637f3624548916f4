// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.cdi.Tokens;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServletCallTest {
    private final Map<String, Object> answers = new HashMap<>(Map.of("isUserInRole", false));
    private final ServletCall call = new ServletCall(
            (HttpServletRequest) Proxy.newProxyInstance(
                    ServletCallTest.class.getClassLoader(),
                    new Class<?>[] {HttpServletRequest.class},
                    (proxy, method, arguments) -> {
                        assertThat(method.getName())
                                .as("the parameters include the body of a form")
                                .doesNotContain("Parameter");
                        return answers.get(method.getName());
                    }),
            Optional.of("203.0.113.7"));

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "tenant=a, a",
                "x=1&tenant=a&tenant=b, a",
                "tenant=a%20b+c%C3%A9, a b cé",
                "t%65nant=a, a",
                "tenant=a=b, a=b",
                "tenant=, ''",
                "tenant, ''",
                "Tenant=a, none",
                "xtenant=a, none",
                "tenant=%zz, none",
                "tenant=%, none",
                "%zz=1&tenant=a, a",
                "&&&tenant=a, a",
                "'', none",
                "none, none",
            })
    void readsTheQueryWithoutTheBody(String query, String value) {
        answers.put("getQueryString", query);
        assertThat(call.queryParameter("tenant")).isEqualTo(Optional.ofNullable(value));
    }

    @Test
    void readsCookiesAndHeaderLines() {
        assertThat(call.cookie("id")).isEmpty();
        answers.put("getCookies", new Cookie[] {new Cookie("x", "y"), new Cookie("id", "a"), new Cookie("id", "b")});
        assertThat(call.cookie("id")).contains("a");
        assertThat(call.cookie("ID")).isEmpty();
        assertThat(call.headerLines("x")).isEmpty();
        answers.put("getHeaders", Collections.enumeration(List.of("a", "b")));
        assertThat(call.headerLines("x")).containsExactly("a", "b");
    }

    @Test
    void readsClaimsOfTheTokenAndRolesOfTheRequest() {
        assertThat(call.claim("plan")).isEmpty();
        assertThat(call.isInRole("admin")).isFalse();
        answers.put("getUserPrincipal", Tokens.of("plan", "free"));
        answers.put("isUserInRole", true);
        assertThat(call.principal()).contains("alice");
        assertThat(call.claim("plan")).contains("free");
        assertThat(call.isInRole("admin")).isTrue();
    }

    @Test
    void hasNoMethodAndNoArgumentsAndShowsNoData() {
        assertThat(call.method()).isEmpty();
        assertThat(call.pathParameter("org")).isEmpty();
        assertThat(call.argument("x")).isEmpty();
        assertThat(call).hasToString("ServletCall");
    }
}
