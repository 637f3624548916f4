// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;

/**
 * The limits and the clock of a deployment on a server, for a test in another JVM. The deployment contains the jar of the test kit. Each
 * method sends a request with a header field to the REST application, which needs no resource for it.
 */
public final class RemoteRateLimits {
    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(30);

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI application;

    private RemoteRateLimits(URI application) {
        this.application = application;
    }

    /**
     * Returns the limits of a deployment. Sends no request.
     *
     * @param application a URI below the path of the REST application, such as {@code http://localhost:9080/shop/api/}
     * @return the limits
     */
    public static RemoteRateLimits at(URI application) {
        return new RemoteRateLimits(application);
    }

    /**
     * Returns the time of the clock.
     *
     * @return the time
     */
    public Instant now() {
        return send("time");
    }

    /**
     * Moves the clock.
     *
     * @param duration the duration, zero or more
     * @return the time of the clock after the move
     */
    public Instant advance(Duration duration) {
        return send("advance " + duration);
    }

    /** Deletes the state of all keys. */
    public void reset() {
        send("reset");
    }

    /** Restores the state after the deployment, with the first time of the clock. */
    public void resetAll() {
        send("reset-all");
    }

    /** Lets each call of the backend fail, as {@link RateLimits#failBackend()} does. */
    public void failBackend() {
        send("fail-backend");
    }

    /**
     * Delays each reply of the backend, as {@link RateLimits#delayBackend} does.
     *
     * @param delay the delay, zero or more
     */
    public void delayBackend(Duration delay) {
        send("delay-backend " + delay);
    }

    /** Lets the backend work again. */
    public void recoverBackend() {
        send("recover-backend");
    }

    private Instant send(String command) {
        HttpRequest request = HttpRequest.newBuilder(application)
                .timeout(LONGEST_REQUEST)
                .header(TestKitFilter.COMMAND, command)
                .build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            return response.headers()
                    .firstValue(TestKitFilter.TIME)
                    .map(Instant::parse)
                    .orElseThrow(
                            () -> new IllegalStateException("the test kit at " + application + " has not answered \""
                                    + command + "\": status " + response.statusCode() + " " + response.body()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
