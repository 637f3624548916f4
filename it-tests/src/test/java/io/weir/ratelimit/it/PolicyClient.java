// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** Calls of the application of the package {@code policies}, for one client per test. */
interface PolicyClient {
    /** The root of the application, with a slash at the end. */
    URI base();

    /** The client of the test at hand. */
    String client();

    /** A GET of this client, with header fields given as name, value, name, value. */
    default HttpResponse<String> get(String path, String... headers) {
        return Http.get(uri(path), fields(headers));
    }

    default URI uri(String path) {
        return base().resolve(path);
    }

    /** The given header fields after the one that names this client. */
    default String[] fields(String... headers) {
        return Stream.concat(Stream.of("X-Client", client()), Stream.of(headers))
                .toArray(String[]::new);
    }

    /** What this client has left under a policy. */
    default long left(String policy, String... headers) {
        HttpResponse<String> response = get("api/left/" + policy, headers);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Long.parseLong(response.body());
    }

    /** The status of a request line and fields that are sent as they are; 0 without an answer. */
    default int raw(String path, String... lines) {
        String line = Http.raw(
                base(),
                "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client() + "\r\n"
                        + Stream.of(lines).map(each -> each + "\r\n").reduce("", String::concat)
                        + "Connection: close\r\n\r\n");
        return line.isEmpty() ? 0 : Integer.parseInt(line.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3));
    }

    /** Waits for what comes a moment after an answer, and says whether it came. */
    static boolean comesTrue(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        return true;
    }
}
