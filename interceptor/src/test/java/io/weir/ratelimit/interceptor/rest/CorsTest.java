// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.response.QuotaView;
import jakarta.ws.rs.core.MultivaluedHashMap;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CorsTest {
    private final MultivaluedMap<String, Object> fields = new MultivaluedHashMap<>();

    private Object exposed(String... names) {
        new QuotaFields(List.of(new Fields(List.of(names)))).expose(fields);
        return fields.get(QuotaFields.EXPOSE);
    }

    private record Fields(List<String> names) implements QuotaView.Dialect {
        @Override
        public void write(QuotaView view, BiConsumer<String, String> written) {
            throw new AssertionError("no quota is written");
        }
    }

    @Test
    void exposesNothingToTheSameOrigin() {
        fields.putSingle("RateLimit", "\"api\"");
        assertThat(exposed("RateLimit")).isNull();
    }

    @Test
    void exposesFieldsOfTheResponseOnly() {
        fields.putSingle("Access-Control-Allow-Origin", "https://a.example");
        assertThat(exposed("RateLimit", "Retry-After")).isNull();
        fields.putSingle("RateLimit", "\"api\"");
        assertThat(exposed("RateLimit", "Retry-After")).isEqualTo(List.of("RateLimit"));
    }

    @Test
    void addsToTheFieldsOfTheApplicationWithoutDuplicates() {
        fields.putSingle("Access-Control-Allow-Origin", "*");
        fields.putSingle("RateLimit", "\"api\"");
        fields.putSingle("Retry-After", 1);
        fields.add(QuotaFields.EXPOSE, "X-Own, ratelimit,");
        fields.add(QuotaFields.EXPOSE, List.of("X-Other"));
        assertThat(exposed("RateLimit", "Retry-After")).isEqualTo(List.of("X-Own, ratelimit, X-Other, Retry-After"));
    }

    @Test
    void keepsAWildcard() {
        fields.putSingle("Access-Control-Allow-Origin", "*");
        fields.putSingle("RateLimit", "\"api\"");
        fields.putSingle(QuotaFields.EXPOSE, " * ");
        assertThat(exposed("RateLimit")).isEqualTo(List.of(" * "));
    }

    @Test
    @Tag("field")
    void withCredentialsAWildcardExposesNothing() {
        fields.putSingle("Access-Control-Allow-Origin", "https://a.example");
        fields.putSingle("Access-Control-Allow-Credentials", true);
        fields.putSingle("RateLimit", "\"api\"");
        fields.putSingle("Retry-After", 1);
        fields.putSingle(QuotaFields.EXPOSE, "*");
        assertThat(exposed("RateLimit", "Retry-After")).isEqualTo(List.of("*, RateLimit, Retry-After"));
    }
}
