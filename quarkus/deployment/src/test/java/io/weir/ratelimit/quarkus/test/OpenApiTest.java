// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.RateLimit;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.StringReader;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The OpenAPI document describes the responses of limited operations. The build has no limits, and logs no failure about them. */
class OpenApiTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resource.class))
            .overrideConfigKey("ratelimit.policies.described.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.described.key", "ip")
            .setLogRecordPredicate(record -> String.valueOf(record.getMessage()).contains("WEIR-312"))
            .assertLogRecords(records -> assertThat(records).isEmpty());

    @TestHTTPResource
    URI base;

    @Test
    void theDocumentHasTheRejectionOfTheLimitedOperationOnly() {
        String document = new Client(base).get("q/openapi?format=json").body();
        JsonObject paths =
                Json.createReader(new StringReader(document)).readObject().getJsonObject("paths");
        JsonObject rejected = responses(paths, "/described/limited").getJsonObject("429");
        assertThat(rejected.getJsonObject("headers")).containsKeys("Retry-After", "RateLimit");
        assertThat(responses(paths, "/described/open")).doesNotContainKey("429");
    }

    private static JsonObject responses(JsonObject paths, String path) {
        return paths.getJsonObject(path).getJsonObject("get").getJsonObject("responses");
    }

    @Path("described")
    public static class Resource {
        @GET
        @Path("limited")
        @RateLimit("described")
        public String limited() {
            return "done";
        }

        @GET
        @Path("open")
        public String open() {
            return "done";
        }
    }
}
