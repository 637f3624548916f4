// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A client of the application of the package {@code policies}, with a different client name per test. */
interface PolicyClient {
    /** Returns the root of the application, with a slash at the end. */
    URI base();

    /** Returns the client name of the current test. */
    String client();

    /** Sends a GET request of this client. Headers are alternating names and values. */
    default HttpResponse<String> get(String path, String... headers) {
        return Http.get(uri(path), fields(headers));
    }

    default URI uri(String path) {
        return base().resolve(path);
    }

    /** Returns the header of this client and further headers. */
    default String[] fields(String... headers) {
        return Stream.concat(Stream.of("X-Client", client()), Stream.of(headers))
                .toArray(String[]::new);
    }

    /** Returns the remaining permits of this client under a policy. */
    default long remaining(String policy, String... headers) {
        HttpResponse<String> response = get("api/remaining/" + policy, headers);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Long.parseLong(response.body());
    }

    /** Sends a raw request and returns the status; 0 without a response. */
    default int raw(String path, String... lines) {
        String line = Http.raw(
                base(),
                "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client() + "\r\n"
                        + Stream.of(lines).map(each -> each + "\r\n").reduce("", String::concat)
                        + "Connection: close\r\n\r\n");
        return line.isEmpty() ? 0 : Integer.parseInt(line.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3));
    }

    /** Waits until a condition is true and returns whether it is true within 20 seconds. */
    static boolean eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        return true;
    }
}
