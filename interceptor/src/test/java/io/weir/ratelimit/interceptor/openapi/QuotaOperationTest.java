// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.junit.jupiter.api.Test;

class QuotaOperationTest {
    @Test
    void addsTheOperationOnce() {
        OpenAPI document = OASFactory.createOpenAPI();
        new QuotaOperation("/rate-limits").addTo(document);
        new QuotaOperation("/rate-limits").addTo(document);
        assertThat(document.getPaths().getPathItems()).containsOnlyKeys("/rate-limits");
        assertThat(document.getPaths()
                        .getPathItem("/rate-limits")
                        .getGET()
                        .getResponses()
                        .getAPIResponses())
                .containsOnlyKeys("200", "429", "503");
    }
}
