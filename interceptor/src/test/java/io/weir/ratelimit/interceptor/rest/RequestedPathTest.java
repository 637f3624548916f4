// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.UriInfo;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The path that path rules match. */
class RequestedPathTest {
    private static List<String> path(String contextPath, String base, String path, String requested) {
        UriInfo uri =
                fake(UriInfo.class, Map.of("getBaseUri", uri(base), "getPath", path, "getRequestUri", uri(requested)));
        ServletAccess servlet = new ServletAccess() {
            @Override
            public String contextPath() {
                return contextPath;
            }
        };
        return RequestPath.of(RestCall.early(fake(ContainerRequestContext.class, Map.of("getUriInfo", uri)), servlet)
                        .path())
                .segments();
    }

    private static URI uri(String path) {
        return URI.create("http://localhost" + path);
    }

    private static <T> T fake(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.get(method.getName())));
    }

    @Test
    void includesTheApplicationPathAndExcludesTheContextRoot() {
        assertThat(path("", "/api/", "search", "/api/search")).containsExactly("api", "search");
        assertThat(path("/shop", "/shop/api/", "search", "/shop/api/search")).containsExactly("api", "search");
        assertThat(path("/shop", "/shop/", "search", "/shop/search")).containsExactly("search");
    }

    @Test
    void toleratesALeadingSlash() {
        assertThat(path("/shop", "/shop/api/", "/search;v=1", "/shop/api/search;v=1"))
                .containsExactly("api", "search");
    }

    @Test
    void isThePathThatTheRuntimeMatches() {
        assertThat(path("/shop", "/shop/api/", "search", "/shop/api;search")).containsExactly("api", "search");
        assertThat(path("", "/api/", "search", "/%61pi/search")).containsExactly("api", "search");
    }
}
