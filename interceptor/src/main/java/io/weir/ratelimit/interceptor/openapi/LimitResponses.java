// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.interceptor.openapi.QuotaHeaders.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.headers.Header;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.eclipse.microprofile.openapi.models.responses.APIResponses;

/**
 * The responses and header fields that a limit adds to an OpenAPI document. Existing responses and fields are not replaced. A
 * reference to a response of the components is not changed.
 */
record LimitResponses(OpenAPI openApi) {
    static final String PROBLEM_JSON = "application/problem+json";
    private static final Pattern SUCCESS = Pattern.compile("2(\\d\\d|XX|xx)");

    /** Documents a limited operation, of which calls can be rejected while the backend is unavailable. */
    void document(Operation operation, List<Field> quotas, boolean unavailable) {
        APIResponses responses = operation.getResponses();
        if (responses == null) {
            responses = OASFactory.createAPIResponses();
            operation.setResponses(responses);
        }
        successes(responses).forEach(response -> add(response, quotas));
        List<Field> rejectionFields = new ArrayList<>(List.of(QuotaHeaders.RETRY_AFTER));
        rejectionFields.addAll(quotas);
        rejection(responses, "429", "The caller is over a limit. Nothing was done.", rejectionFields);
        if (unavailable) {
            rejection(
                    responses,
                    "503",
                    "Limits cannot be checked at the moment. Nothing was done.",
                    List.of(QuotaHeaders.RETRY_AFTER));
        }
    }

    /** Returns the successful responses, or {@code default} if there is none. */
    private static List<APIResponse> successes(APIResponses responses) {
        Map<String, APIResponse> all = responses.getAPIResponses() == null ? Map.of() : responses.getAPIResponses();
        List<APIResponse> successes = all.entrySet().stream()
                .filter(entry -> SUCCESS.matcher(entry.getKey()).matches())
                .map(Map.Entry::getValue)
                .toList();
        APIResponse other = responses.getDefaultValue();
        return !successes.isEmpty() ? successes : other == null ? List.of() : List.of(other);
    }

    private void rejection(APIResponses responses, String status, String description, List<Field> fields) {
        APIResponse response = responses.getAPIResponse(status);
        if (response == null) {
            response = OASFactory.createAPIResponse()
                    .description(description)
                    .content(OASFactory.createContent()
                            .addMediaType(
                                    PROBLEM_JSON, OASFactory.createMediaType().schema(Schemas.problem(components()))));
            responses.addAPIResponse(status, response);
        }
        add(response, fields);
    }

    private void add(APIResponse response, List<Field> fields) {
        if (response.getRef() != null) {
            return;
        }
        TreeSet<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        known.addAll(
                response.getHeaders() == null
                        ? List.of()
                        : response.getHeaders().keySet());
        fields.stream()
                .filter(field -> known.add(field.name()))
                .forEach(field -> response.addHeader(field.name(), reference(field)));
    }

    private Header reference(Field field) {
        Components components = components();
        if (components.getHeaders() == null || !components.getHeaders().containsKey(field.name())) {
            Schema schema = Schemas.of(field.type());
            components.addHeader(
                    field.name(),
                    OASFactory.createHeader().description(field.description()).schema(schema));
        }
        return OASFactory.createHeader().ref("#/components/headers/" + field.name());
    }

    private Components components() {
        Components components = openApi.getComponents();
        if (components == null) {
            components = OASFactory.createComponents();
            openApi.setComponents(components);
        }
        return components;
    }
}
