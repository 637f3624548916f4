// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/** A factory for schemas. It calls {@code setType} by reflection, because MicroProfile OpenAPI 4.0 has changed its parameter to a list. */
final class SchemaTypes {
    private static final Method SET_TYPE = Arrays.stream(Schema.class.getMethods())
            .filter(method -> method.getName().equals("setType"))
            .findFirst()
            .orElseThrow();

    private SchemaTypes() {}

    static Schema schema(SchemaType type) {
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
