// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.runtime.HttpResource.Login;
import io.weir.ratelimit.runtime.HttpResource.Request;
import io.weir.ratelimit.spi.CallContext;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A body that a test client cannot send; {@link ConsoleServletTest} sends all others. */
class PostedJsonTest {
    @Test
    void incompleteBodyIsARejectedRequest() {
        PostedJson.RejectedException rejected =
                catchThrowableOfType(PostedJson.RejectedException.class, () -> PostedJson.of(new BrokenRequest()));
        assertThat(rejected.status()).isEqualTo(400);
        assertThat(rejected).hasMessage("The body is incomplete.");
    }

    private static final class BrokenRequest implements Request {
        @Override
        public CallContext caller() {
            return new Page();
        }

        @Override
        public boolean hasUser() {
            return false;
        }

        @Override
        public String method() {
            return "POST";
        }

        @Override
        public String path() {
            return "/api/v1/callers/reset";
        }

        @Override
        public byte[] body(int limit) throws IOException {
            throw new IOException("connection reset");
        }

        @Override
        public Login login() {
            return Login.UNAVAILABLE;
        }
    }

    private record Page() implements CallContext {
        private static final Map<String, String> HEADERS =
                Map.of("Sec-Fetch-Site", "same-origin", "Content-Type", "application/json");

        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(HEADERS.get(name));
        }

        @Override
        public List<String> headerLines(String name) {
            return header(name).stream().toList();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }
}
