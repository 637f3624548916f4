// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.message.MessageCatalog;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The commands of {@link RemoteRateLimits}, which are header fields of requests to any path of a REST application. A request with the
 * field is answered here and reaches no resource. Commands need no login, so a log message at most once a minute reports them.
 */
@PreMatching
@Priority(1)
public class TestKitFilter implements ContainerRequestFilter {
    static final String COMMAND = "Weir-Test-Kit";
    static final String TIME = "Weir-Test-Kit-Time";

    private static final MessageCatalog MESSAGES = MessageCatalog.load(TestKitFilter.class, "test-kit");

    private final MessageCatalog.Sampler commands = new MessageCatalog.Sampler(TimeUnit.MINUTES.toNanos(1));

    /** Creates the filter. */
    public TestKitFilter() {}

    @Override
    public void filter(ContainerRequestContext request) {
        String command = request.getHeaderString(COMMAND);
        if (command != null) {
            request.abortWith(answer(command));
        }
    }

    /** Logs the name of a command, which is none of the client's own text. */
    private void log(String name) {
        long count = commands.countToLog(System.nanoTime());
        if (count > 0) {
            MESSAGES.log("WEIR-612", count, name);
        }
    }

    private Response answer(String command) {
        RateLimitClock clock = CDI.current().select(RateLimitClock.class).get();
        RateLimits limits = CDI.current().select(RateLimits.class).get();
        try {
            String[] words = command.split(" ", 2);
            run(words, clock, limits);
            log(words[0]);
        } catch (DateTimeException | IllegalArgumentException e) {
            return Response.status(Response.Status.BAD_REQUEST)
                    .entity(String.valueOf(e.getMessage()))
                    .type(MediaType.TEXT_PLAIN_TYPE)
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
