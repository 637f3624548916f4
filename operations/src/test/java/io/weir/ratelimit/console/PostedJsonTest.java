// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A body that a test client cannot send; {@link ConsoleServletTest} sends all others. */
class PostedJsonTest {
    @Test
    void incompleteBodyIsARejectedRequest() {
        HttpServletRequest request = (HttpServletRequest) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getHeaders" ->
                        Collections.enumeration(
                                arguments[0].equals("Sec-Fetch-Site") ? List.of("same-origin") : List.of());
                    case "getContentType" -> "application/json";
                    case "getContentLengthLong" -> 100L;
                    case "getInputStream" -> new BrokenStream();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        PostedJson.RejectedException rejected =
                catchThrowableOfType(PostedJson.RejectedException.class, () -> PostedJson.of(request));
        assertThat(rejected.status()).isEqualTo(400);
        assertThat(rejected).hasMessage("The body is incomplete.");
    }

    private static final class BrokenStream extends ServletInputStream {
        @Override
        public int read() throws IOException {
            throw new IOException("connection reset");
        }

        @Override
        public boolean isFinished() {
            return false;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new UnsupportedOperationException("not asynchronous");
        }
    }
}
