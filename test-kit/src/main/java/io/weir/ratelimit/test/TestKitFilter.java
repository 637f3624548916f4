// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import jakarta.annotation.Priority;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Response;
import java.time.DateTimeException;
import java.time.Duration;

/**
 * The commands of {@link RemoteRateLimits}, which are header fields of requests to any path of a REST application. A request with the
 * field is answered here and reaches no resource.
 */
@PreMatching
@Priority(1)
public class TestKitFilter implements ContainerRequestFilter {
    static final String COMMAND = "Weir-Test-Kit";
    static final String TIME = "Weir-Test-Kit-Time";

    /** Creates the filter. */
    public TestKitFilter() {}

    @Override
    public void filter(ContainerRequestContext request) {
        String command = request.getHeaderString(COMMAND);
        if (command != null) {
            request.abortWith(answer(command));
        }
    }

    private static Response answer(String command) {
        RateLimitClock clock = CDI.current().select(RateLimitClock.class).get();
        RateLimits limits = CDI.current().select(RateLimits.class).get();
        try {
            run(command.split(" ", 2), clock, limits);
        } catch (DateTimeException | IllegalArgumentException e) {
            return Response.status(Response.Status.BAD_REQUEST)
                    .entity(String.valueOf(e.getMessage()))
                    .build();
        }
        return Response.noContent().header(TIME, clock.now()).build();
    }

    private static void run(String[] words, RateLimitClock clock, RateLimits limits) {
        switch (words[0]) {
            case "time" -> {}
            case "advance" -> clock.advance(duration(words));
            case "reset" -> limits.reset();
            case "reset-all" -> limits.resetAll();
            case "fail-backend" -> limits.failBackend();
            case "delay-backend" -> limits.delayBackend(duration(words));
            case "recover-backend" -> limits.recoverBackend();
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        }
    }

    private static Duration duration(String[] words) {
        return Duration.parse(words.length < 2 ? "" : words[1]);
    }
}
