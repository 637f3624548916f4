// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.openapi.api.SmallRyeOpenAPI;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LimitedOperationsTest {
    private static final Policy API = policy("api", FailureMode.OPEN, Policy.Mode.ENFORCE, Policy.Disclosure.FULL);
    private static final Policy LOGIN =
            policy("login", FailureMode.CLOSED, Policy.Mode.ENFORCE, Policy.Disclosure.MINIMAL);
    private static final Policy CLOSED =
            policy("closed", FailureMode.CLOSED, Policy.Mode.ENFORCE, Policy.Disclosure.FULL);
    private static final Policy SHADOW =
            policy("shadow", FailureMode.CLOSED, Policy.Mode.SHADOW, Policy.Disclosure.MINIMAL);

    private final Operation hello = OASFactory.createOperation()
            .description("Says hello.")
            .responses(OASFactory.createAPIResponses()
                    .addAPIResponse("200", OASFactory.createAPIResponse().description("OK"))
                    .addAPIResponse("404", OASFactory.createAPIResponse().description("Not found")));
    private final OpenAPI openApi = OASFactory.createOpenAPI();

    @BeforeEach
    void documentHello() {
        openApi.paths(OASFactory.createPaths()
                .addPathItem("/api/hello", OASFactory.createPathItem().GET(hello)));
    }

    private static Policy policy(String name, FailureMode onFailure, Policy.Mode mode, Policy.Disclosure disclosure) {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1));
        return Policy.builder(new PolicyLimits(name, List.of(limit)), KeyExpression.parse("ip", new KeyTerms(32, 64)))
                .onFailure(onFailure)
                .mode(mode)
                .disclosure(disclosure)
                .build();
    }

    private static ApplicationView.Operation helloUnder(Policy... policies) {
        List<Binding.PolicyCost> policyCosts = List.of(policies).stream()
                .map(one -> new Binding.PolicyCost(one, 1))
                .toList();
        return new ApplicationView.Operation("GET", "/hello", new Binding("Hello.hello", policyCosts));
    }

    private void document(List<String> dialects, Policy... policies) {
        new LimitedOperations(List.of(helloUnder(policies)), dialects, (own, method, path) -> own.policies())
                .document(openApi);
    }

    private Set<String> fieldsOf(String status) {
        APIResponse response = hello.getResponses().getAPIResponse(status);
        return response.getHeaders() == null ? Set.of() : response.getHeaders().keySet();
    }

    @Test
    void documentsQuotasAndRejectionOfALimitedOperation() {
        document(List.of("draft-11", "legacy"), API);

        assertThat(fieldsOf("200"))
                .containsExactlyInAnyOrder(
                        "RateLimit-Policy",
                        "RateLimit",
                        "X-RateLimit-Limit",
                        "X-RateLimit-Remaining",
                        "X-RateLimit-Reset");
        assertThat(fieldsOf("404")).isEmpty();
        assertThat(fieldsOf("429"))
                .containsExactlyInAnyOrder(
                        "Retry-After",
                        "RateLimit-Policy",
                        "RateLimit",
                        "X-RateLimit-Limit",
                        "X-RateLimit-Remaining",
                        "X-RateLimit-Reset");
        assertThat(hello.getResponses().getAPIResponses()).containsOnlyKeys("200", "404", "429");
        assertThat(hello.getDescription()).isEqualTo("Says hello.");
        APIResponse rejection = hello.getResponses().getAPIResponse("429");
        assertThat(rejection.getDescription()).contains("over a limit");
        assertThat(rejection
                        .getContent()
                        .getMediaType("application/problem+json")
                        .getSchema()
                        .getRef())
                .isEqualTo("#/components/schemas/RateLimitProblem");
    }

    @Test
    void sharedPartsOfResponsesAreComponents() {
        document(List.of("draft-06"), API);

        assertThat(openApi.getComponents().getHeaders())
                .containsOnlyKeys("Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
        assertThat(hello.getResponses()
                        .getAPIResponse("429")
                        .getHeaders()
                        .get("Retry-After")
                        .getRef())
                .isEqualTo("#/components/headers/Retry-After");
        assertThat(openApi.getComponents()
                        .getHeaders()
                        .get("Retry-After")
                        .getSchema()
                        .getType())
                .isEqualTo(SchemaType.INTEGER);
        Schema problem = openApi.getComponents().getSchemas().get("RateLimitProblem");
        assertThat(problem.getProperties())
                .containsOnlyKeys(
                        "type",
                        "title",
                        "status",
                        "detail",
                        "violated-policies",
                        "error",
                        "retry_after",
                        "message",
                        "help");
        assertThat(problem.getProperties().get("violated-policies").getItems().getType())
                .isEqualTo(SchemaType.STRING);
    }

    @Test
    void withoutDialectsOnlyTheRejectionIsDocumented() {
        document(List.of(), API);

        assertThat(fieldsOf("200")).isEmpty();
        assertThat(fieldsOf("429")).containsExactly("Retry-After");
    }

    @Test
    void aPolicyWithMinimalDisclosureDocumentsOnlyTheRejection() {
        document(List.of("draft-11"), LOGIN);

        assertThat(fieldsOf("200")).isEmpty();
        assertThat(fieldsOf("429")).containsExactly("Retry-After");
    }

    @Test
    void aPolicyWithMinimalDisclosureHidesTheQuotasOfOthers() {
        document(List.of("draft-11"), API, LOGIN);

        assertThat(fieldsOf("200")).isEmpty();
        assertThat(fieldsOf("429")).containsExactly("Retry-After");
    }

    @Test
    void aPolicyInShadowModeChangesNoDocumentation() {
        String before = json();
        document(List.of("draft-11"), SHADOW);
        assertThat(json()).isEqualTo(before);

        document(List.of("draft-11"), SHADOW, API);
        assertThat(fieldsOf("200")).containsExactlyInAnyOrder("RateLimit-Policy", "RateLimit");
        assertThat(hello.getResponses().getAPIResponses()).containsOnlyKeys("200", "404", "429");
    }

    @Test
    void aPathRuleLimitsAnOperationWhoseMethodHasNoPolicies() {
        List<String> requested = new ArrayList<>();
        new LimitedOperations(List.of(helloUnder()), List.of(), (own, method, path) -> {
                    requested.add(method + " " + path);
                    return helloUnder(API).binding().policies();
                })
                .document(openApi);

        assertThat(requested).containsExactly("GET /api/hello");
        assertThat(fieldsOf("429")).containsExactly("Retry-After");
    }

    @Test
    void aClosedPolicyDocumentsTheResponseWithoutTheBackend() {
        document(List.of("draft-11"), CLOSED, API);

        assertThat(hello.getResponses().getAPIResponse("503").getDescription()).contains("cannot be checked");
        assertThat(fieldsOf("503")).containsExactly("Retry-After");
    }

    @Test
    void anOperationWithoutLimitsDoesNotChange() {
        String before = json();

        document(List.of("draft-11"));

        assertThat(json()).isEqualTo(before);
    }

    @Test
    void documentationOfTheApplicationDoesNotChange() {
        hello.getResponses()
                .addAPIResponse(
                        "429",
                        OASFactory.createAPIResponse()
                                .description("Come back later.")
                                .addHeader(
                                        "retry-after", OASFactory.createHeader().description("Own")))
                .addAPIResponse("503", OASFactory.createAPIResponse().ref("#/components/responses/Unavailable"));

        document(List.of("draft-11"), CLOSED, API);

        APIResponse rejection = hello.getResponses().getAPIResponse("429");
        assertThat(rejection.getDescription()).isEqualTo("Come back later.");
        assertThat(rejection.getContent()).isNull();
        assertThat(fieldsOf("429")).containsExactlyInAnyOrder("retry-after", "RateLimit-Policy", "RateLimit");
        assertThat(fieldsOf("503")).as("a reference does not change").isEmpty();
    }

    @Test
    void componentsOfTheApplicationDoNotChange() {
        openApi.components(OASFactory.createComponents()
                .addSchema("RateLimitProblem", OASFactory.createSchema().title("Own"))
                .addHeader("Retry-After", OASFactory.createHeader().description("Own")));

        document(List.of(), API);

        assertThat(openApi.getComponents().getSchemas().get("RateLimitProblem").getTitle())
                .isEqualTo("Own");
        assertThat(openApi.getComponents().getHeaders().get("Retry-After").getDescription())
                .isEqualTo("Own");
    }

    @Test
    void theDefaultResponseIsTheSuccessIfThereIsNoOther() {
        APIResponse other = OASFactory.createAPIResponse().description("Anything");
        hello.getResponses().addAPIResponse("default", other);
        document(List.of("draft-11"), API);
        assertThat(other.getHeaders()).isNull();

        hello.getResponses().removeAPIResponse("200");
        document(List.of("draft-11"), API);
        assertThat(other.getHeaders()).containsOnlyKeys("RateLimit-Policy", "RateLimit");
    }

    @Test
    void anOperationWithoutResponsesGetsTheRejection() {
        hello.setResponses(null);

        document(List.of("draft-11"), API);

        assertThat(hello.getResponses().getAPIResponses()).containsOnlyKeys("429");
    }

    @Test
    void aSecondRunChangesNothing() {
        document(List.of("draft-11", "draft-06", "legacy"), CLOSED, API);
        String once = json();

        document(List.of("draft-11", "draft-06", "legacy"), CLOSED, API);

        assertThat(json()).isEqualTo(once);
    }

    @Test
    void aDocumentWithoutPathsDoesNotChange() {
        openApi.setPaths(null);

        document(List.of("draft-11"), API);

        assertThat(openApi.getPaths()).isNull();
        assertThat(openApi.getComponents()).isNull();
    }

    @Test
    void aTypeIsAListSinceOpenApi4() {
        assertThat(Schemas.argument(SchemaType.class, SchemaType.STRING)).isEqualTo(SchemaType.STRING);
        assertThat(Schemas.argument(List.class, SchemaType.STRING)).isEqualTo(List.of(SchemaType.STRING));
    }

    private String json() {
        return SmallRyeOpenAPI.builder()
                .enableModelReader(false)
                .enableStandardStaticFiles(false)
                .enableAnnotationScan(false)
                .enableStandardFilter(false)
                .withInitialModel(openApi)
                .build()
                .toJSON();
    }
}
