// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientCallTest {
    @ParameterizedTest
    @CsvSource({
        "https://api.example.com/items, api.example.com",
        "https://API.Example.com./items, api.example.com",
        "https://api.example.com:443/items, api.example.com",
        "HTTP://api.example.com:80, api.example.com",
        "https://api.example.com:/, api.example.com",
        "https://user:word@api.example.com, api.example.com",
        "https://api.example.com:80, api.example.com:80",
        "http://api.example.com:443, api.example.com:443",
        "http://my_service/items, my_service",
        "http://my_service:8080/items, my_service:8080",
        "http://u_ser:word@my_service:80/items, my_service",
        "http://[2001:DB8::1], [2001:db8::1]",
        "http://[2001:db8::1]:80, [2001:db8::1]",
        "http://[2001:db8::1]:8080, [2001:db8::1]:8080",
        "/items, ''",
        "mailto:a@example.com, ''"
    })
    @Tag("field")
    void allSpellingsOfAHostAreOneKey(URI uri, String host) {
        assertThat(ClientCall.host(uri)).isEqualTo(host);
    }
}
