// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.request.Binding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.PathItem;
import org.eclipse.microprofile.openapi.models.PathItem.HttpMethod;
import org.junit.jupiter.api.Test;

class OperationPathsTest {
    private static ApplicationView.Operation get(String path) {
        return new ApplicationView.Operation("GET", path, Binding.NONE);
    }

    private static Map<String, PathItem> gets(String... paths) {
        Map<String, PathItem> items = new LinkedHashMap<>();
        for (String path : paths) {
            items.put(path, OASFactory.createPathItem().GET(OASFactory.createOperation()));
        }
        return items;
    }

    @Test
    void thePathOfTheApplicationPrecedesThatOfTheResource() {
        OperationPaths paths = new OperationPaths(
                List.of(get("/orders"), get("/orders/{id}")), gets("/shop/api/orders", "/shop/api/orders/{id}"));

        assertThat(paths.of("/shop/api/orders", HttpMethod.GET)).containsExactly(get("/orders"));
        assertThat(paths.of("/shop/api/orders/{id}", HttpMethod.GET)).containsExactly(get("/orders/{id}"));
    }

    @Test
    void operationsDifferByMethod() {
        OperationPaths paths = new OperationPaths(List.of(get("/orders")), gets("/api/orders"));

        assertThat(paths.of("/api/orders", HttpMethod.POST)).isEmpty();
    }

    @Test
    void selectsTheResourceWhosePrefixIsThePathOfTheApplication() {
        OperationPaths paths = new OperationPaths(
                List.of(get("/hello"), get("/v1/hello"), get("/bye")), gets("/api/hello", "/api/v1/hello", "/api/bye"));

        assertThat(paths.of("/api/v1/hello", HttpMethod.GET)).containsExactly(get("/v1/hello"));
        assertThat(paths.of("/api/hello", HttpMethod.GET)).containsExactly(get("/hello"));
    }

    @Test
    void theMostFrequentPrefixIsThePathOfTheApplication() {
        OperationPaths paths = new OperationPaths(
                List.of(get("/hello"), get("/a/hello"), get("/bye")), gets("/v1/a/hello", "/v1/a/bye"));

        assertThat(paths.of("/v1/a/hello", HttpMethod.GET))
                .as("not the resource that the document hides")
                .containsExactly(get("/hello"));
    }

    @Test
    void aResourceAtTheRootMatchesOnlyThePathOfTheApplication() {
        OperationPaths paths = new OperationPaths(
                List.of(get(""), get("/hello"), get("/bye")), gets("/api", "/api/hello", "/api/bye", "/other"));

        assertThat(paths.of("/api", HttpMethod.GET)).containsExactly(get(""));
        assertThat(paths.of("/api/hello", HttpMethod.GET)).containsExactly(get("/hello"));
        assertThat(paths.of("/other", HttpMethod.GET)).isEmpty();
    }

    @Test
    void aSlashAtTheEndDoesNotMatter() {
        OperationPaths paths = new OperationPaths(List.of(get(""), get("/hello")), gets("/", "/hello/"));

        assertThat(paths.of("/", HttpMethod.GET)).containsExactly(get(""));
        assertThat(paths.of("/hello/", HttpMethod.GET)).containsExactly(get("/hello"));
    }

    @Test
    void twoApplicationsHaveTwoPaths() {
        OperationPaths paths = new OperationPaths(List.of(get("/hello"), get("/bye")), gets("/v1/hello", "/v2/bye"));

        assertThat(paths.of("/v1/hello", HttpMethod.GET)).containsExactly(get("/hello"));
        assertThat(paths.of("/v2/bye", HttpMethod.GET)).containsExactly(get("/bye"));
    }

    @Test
    void aPartOfASegmentDoesNotMatch() {
        OperationPaths paths = new OperationPaths(List.of(get("/hello")), gets("/api/othello"));

        assertThat(paths.of("/api/othello", HttpMethod.GET)).isEmpty();
    }
}
