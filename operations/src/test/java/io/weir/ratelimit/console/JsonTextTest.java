// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.response.JsonText;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The JSON writer. */
class JsonTextTest {
    @Test
    void isReadByAJsonParser() {
        Map<String, Object> written = new LinkedHashMap<>();
        String odd = "\"\\\b\n\u0000\u007f\u2028\u202e<script>é😀";
        written.put(odd, odd);
        written.put("numbers", List.of(1, -2, Long.MAX_VALUE));
        written.put("none", List.of());
        written.put("part", 0.25);
        written.put("decimal", new BigDecimal("1E+3"));
        written.put("truth", true);
        written.put("present", Optional.of(7));
        written.put("missing", Optional.empty());
        written.put("list", List.of("a", Map.of("b", List.of())));
        JsonObject read =
                Json.createReader(new StringReader(JsonText.of(written))).readObject();
        assertThat(read.getString(odd)).isEqualTo(odd);
        assertThat(read.get("numbers")).hasToString("[1,-2,9223372036854775807]");
        assertThat(read.get("none")).hasToString("[]");
        assertThat(read.getJsonNumber("part").doubleValue()).isEqualTo(0.25);
        assertThat(read.get("decimal")).hasToString("1000");
        assertThat(read.getBoolean("truth")).isTrue();
        assertThat(read.getInt("present")).isEqualTo(7);
        assertThat(read.isNull("missing")).isTrue();
        assertThat(read.get("list")).hasToString("[\"a\",{\"b\":[]}]");
    }

    @Test
    void writesAsciiOnly() {
        assertThat(JsonText.of("é<\u202e")).isEqualTo("\"\\u00e9\\u003c\\u202e\"");
    }

    @Test
    void writesNumbersIndependentlyOfTheLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.GERMANY);
            assertThat(JsonText.of(1.5)).isEqualTo("1.5000");
        } finally {
            Locale.setDefault(before);
        }
    }
}
