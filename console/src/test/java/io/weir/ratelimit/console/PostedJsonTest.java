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

/** What is sent over HTTP, {@link ConsoleServletTest} tries; here is the one thing that a client of a test does not do. */
class PostedJsonTest {
    @Test
    void aSenderWhoGoesAwayInTheMiddleIsARequestThatIsNotTakenAndNoFailure() {
        HttpServletRequest request = (HttpServletRequest) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getHeaders" ->
                        Collections.enumeration(
                                arguments[0].equals("Sec-Fetch-Site") ? List.of("same-origin") : List.of());
                    case "getContentType" -> "application/json";
                    case "getContentLengthLong" -> 100L;
                    case "getInputStream" -> new BrokenOff();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        PostedJson.Refused refused = catchThrowableOfType(PostedJson.Refused.class, () -> PostedJson.of(request));
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused).hasMessage("The body ended too soon.");
    }

    private static final class BrokenOff extends ServletInputStream {
        @Override
        public int read() throws IOException {
            throw new IOException("broken off");
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
            throw new UnsupportedOperationException("read as it comes");
        }
    }
}
