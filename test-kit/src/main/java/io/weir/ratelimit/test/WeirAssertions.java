// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Decision;
import jakarta.ws.rs.core.Response;
import java.net.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/** AssertJ assertions about decisions and responses. */
public final class WeirAssertions {
    private WeirAssertions() {}

    /**
     * Starts an assertion about a decision.
     *
     * @param actual the decision
     * @return the assertion
     */
    public static DecisionAssert assertThat(@Nullable Decision actual) {
        return new DecisionAssert(actual);
    }

    /**
     * Starts an assertion about a response of a Jakarta REST client. Only assertions about the problem read the entity, which
     * remains readable.
     *
     * @param actual the response
     * @return the assertion
     */
    public static ResponseAssert<Response> assertThat(@Nullable Response actual) {
        return new ResponseAssert<>(
                actual,
                Response::getStatus,
                (response, name) -> {
                    String line = response.getHeaderString(name);
                    return line == null ? "" : line;
                },
                response -> response.bufferEntity() ? response.readEntity(String.class) : "");
    }

    /**
     * Starts an assertion about a response of the HTTP client of the JDK.
     *
     * @param <B> the type of the body
     * @param actual the response
     * @return the assertion
     */
    public static <B> ResponseAssert<HttpResponse<B>> assertThat(@Nullable HttpResponse<B> actual) {
        return new ResponseAssert<>(
                actual,
                HttpResponse::statusCode,
                (response, name) -> String.join(",", response.headers().allValues(name)),
                response -> response.body() instanceof String text ? text : "");
    }
}
