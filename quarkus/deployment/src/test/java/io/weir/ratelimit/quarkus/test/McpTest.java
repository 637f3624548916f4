// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkiverse.mcp.server.Tool;
import io.quarkiverse.mcp.server.ToolCallException;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The tools of an MCP server, which a client calls over HTTP. */
class McpTest {
    private static final String CALL = """
            {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s","arguments":{"city":"%s"}}}""";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Tools.class, Forecasts.class))
            .overrideConfigKey("ratelimit.policies.forecasts.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.forecasts.algorithm", "sliding-log")
            .overrideConfigKey("ratelimit.policies.forecasts.key", "arg:city")
            .overrideConfigKey("ratelimit.policies.callers.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.callers.key", "header:X-Client");

    private final HttpClient client = HttpClient.newHttpClient();

    @TestHTTPResource
    URI base;

    private String session = "";

    @BeforeEach
    void connect() throws Exception {
        session = "";
        HttpResponse<String> started = send("""
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
                 "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}""");
        session = started.headers().firstValue("Mcp-Session-Id").orElseThrow();
        send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    }

    private HttpResponse<String> send(String message, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve("/mcp"))
                .header("Accept", "application/json, text/event-stream")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(message));
        if (!session.isEmpty()) {
            request.header("Mcp-Session-Id", session);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private String call(String tool, String city) throws Exception {
        return send(CALL.formatted(tool, city)).body();
    }

    @Test
    void aRejectionOfABeanIsAToolErrorWithTheWait() throws Exception {
        assertThat(call("forecast", "Bern")).contains("\"isError\":false", "sun in Bern");
        assertThat(call("forecast", "Bern"))
                .contains("\"isError\":true", "\"text\":\"rate limit exceeded: forecasts; retry after 3");
        assertThat(call("forecast", "Basel")).contains("\"isError\":false");
    }

    /** The server reports each exception of another type so. */
    @Test
    void aRejectionOfTheToolItselfIsAnInternalErrorWithoutTheWait() throws Exception {
        assertThat(call("limitedTool", "Chur")).contains("\"isError\":false");
        assertThat(call("limitedTool", "Chur")).contains("\"code\":-32603,\"message\":\"Internal error\"");
    }

    @Test
    void aToolHasNoCaller() throws Exception {
        assertThat(send(CALL.formatted("ofCaller", "Bern"), "X-Client", "a").body())
                .contains("\"isError\":false");
        assertThat(send(CALL.formatted("ofCaller", "Bern"), "X-Client", "b").body())
                .contains("\"isError\":true");
    }

    public static class Tools {
        @Inject
        Forecasts forecasts;

        @Tool
        String forecast(String city) {
            try {
                return forecasts.of(city);
            } catch (RateLimitExceededException e) {
                throw new ToolCallException(e.getMessage());
            }
        }

        @Tool
        String ofCaller(String city) {
            try {
                return forecasts.ofCaller(city);
            } catch (RateLimitExceededException e) {
                throw new ToolCallException(e.getMessage());
            }
        }

        @Tool
        @RateLimit("forecasts")
        String limitedTool(@RateLimitKey("city") String city) {
            return "sun in " + city;
        }
    }

    @ApplicationScoped
    public static class Forecasts {
        @RateLimit("forecasts")
        public String of(@RateLimitKey("city") String city) {
            return "sun in " + city;
        }

        @RateLimit("callers")
        public String ofCaller(String city) {
            return "sun in " + city;
        }
    }
}
