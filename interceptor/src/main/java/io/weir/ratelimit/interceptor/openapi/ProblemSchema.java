// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import java.util.List;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/** The schema of the problem body of rejections. */
final class ProblemSchema {
    static final String NAME = "RateLimitProblem";

    private ProblemSchema() {}

    /** Returns a reference to the schema, and adds the schema to the components if it is missing. */
    static Schema reference(Components components) {
        if (components.getSchemas() == null || !components.getSchemas().containsKey(NAME)) {
            components.addSchema(NAME, schema());
        }
        return OASFactory.createSchema().ref("#/components/schemas/" + NAME);
    }

    private static Schema schema() {
        return SchemaTypes.schema(SchemaType.OBJECT)
                .description("The reason for a rejection (RFC 9457).")
                .required(List.of("type", "title", "status", "detail", "error", "message"))
                .addProperty("type", SchemaTypes.schema(SchemaType.STRING).format("uri"))
                .addProperty("title", SchemaTypes.schema(SchemaType.STRING))
                .addProperty("status", SchemaTypes.schema(SchemaType.INTEGER))
                .addProperty("detail", SchemaTypes.schema(SchemaType.STRING))
                .addProperty(
                        "violated-policies",
                        SchemaTypes.schema(SchemaType.ARRAY)
                                .description("The policies that rejected the call.")
                                .items(SchemaTypes.schema(SchemaType.STRING)))
                .addProperty("error", SchemaTypes.schema(SchemaType.STRING))
                .addProperty(
                        "retry_after",
                        SchemaTypes.schema(SchemaType.INTEGER)
                                .description("The value of Retry-After; absent if no wait helps."))
                .addProperty("message", SchemaTypes.schema(SchemaType.STRING).description("A text for users."))
                .addProperty(
                        "help",
                        SchemaTypes.schema(SchemaType.STRING)
                                .format("uri")
                                .description("The documentation of the limit."));
    }
}
