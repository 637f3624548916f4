// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.ws.rs.core.MultivaluedHashMap;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RestCallTest {
    private final MultivaluedMap<String, String> headers = new MultivaluedHashMap<>();
    private final RestCall call = new RestCall(Optional.of("203.0.113.7"), Optional.of("alice"), headers);

    @Test
    void ofSeveralLinesOfOneHeaderTheFirstCounts() {
        headers.put("x-key", List.of("a", "b"));
        headers.put("empty", List.of());
        assertThat(call.header("x-key")).contains("a");
        assertThat(call.header("empty")).isEmpty();
        assertThat(call.header("other")).isEmpty();
    }

    @Test
    void itHasNoArgumentsAndNamesNobody() {
        headers.putSingle("authorization", "s3cret");
        assertThat(call.argument("x")).isEmpty();
        assertThat(call).hasToString("RestCall");
    }
}
