// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/** The schemas of header fields and of the problem body of rejections. */
final class Schemas {
    static final String PROBLEM = "RateLimitProblem";

    /** Called by reflection, because MicroProfile OpenAPI 4.0 has changed its parameter to a list. */
    private static final Method SET_TYPE = Arrays.stream(Schema.class.getMethods())
            .filter(method -> method.getName().equals("setType"))
            .findFirst()
            .orElseThrow();

    private Schemas() {}

    /** Returns a reference to the schema of a problem, and adds the schema to the components if it is missing. */
    static Schema problem(Components components) {
        if (components.getSchemas() == null || !components.getSchemas().containsKey(PROBLEM)) {
            components.addSchema(PROBLEM, problem());
        }
        return OASFactory.createSchema().ref("#/components/schemas/" + PROBLEM);
    }

    private static Schema problem() {
        return of(SchemaType.OBJECT)
                .description("The reason for a rejection (RFC 9457).")
                .required(List.of("type", "title", "status", "detail", "error", "message"))
                .addProperty("type", of(SchemaType.STRING).format("uri"))
                .addProperty("title", of(SchemaType.STRING))
                .addProperty("status", of(SchemaType.INTEGER))
                .addProperty("detail", of(SchemaType.STRING))
                .addProperty(
                        "violated-policies",
                        of(SchemaType.ARRAY)
                                .description("The policies that rejected the call.")
                                .items(of(SchemaType.STRING)))
                .addProperty("error", of(SchemaType.STRING))
                .addProperty(
                        "retry_after",
                        of(SchemaType.INTEGER).description("The value of Retry-After; absent if no wait helps."))
                .addProperty("message", of(SchemaType.STRING).description("A text for users."))
                .addProperty(
                        "help", of(SchemaType.STRING).format("uri").description("The documentation of the limit."));
    }

    static Schema of(SchemaType type) {
        Schema schema = OASFactory.createSchema();
        try {
            SET_TYPE.invoke(schema, argument(SET_TYPE.getParameterTypes()[0], type));
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("Schema.setType cannot be called", e);
        }
        return schema;
    }

    static Object argument(Class<?> parameter, SchemaType type) {
        return parameter == List.class ? List.of(type) : type;
    }
}
