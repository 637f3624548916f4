// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import jakarta.annotation.Resource;
import jakarta.annotation.security.RolesAllowed;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.StreamingOutput;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;

/** Calls the bean in the request and on other threads. */
@Path("/")
@RequestScoped
public class PlaceResource {
    @Inject
    Limited limited;

    @Resource
    ManagedExecutorService executor;

    @GET
    @Path("user/{place}")
    @RolesAllowed("user")
    public StreamingOutput user(@PathParam("place") String place) throws InterruptedException, ExecutionException {
        return call(place);
    }

    @GET
    @Path("visitor/{place}")
    public StreamingOutput visitor(@PathParam("place") String place) throws InterruptedException, ExecutionException {
        return call(place);
    }

    private StreamingOutput call(String place) throws InterruptedException, ExecutionException {
        if (place.equals("stream")) {
            return out -> out.write(Limited.answer(limited::stream).getBytes(StandardCharsets.UTF_8));
        }
        String answer = switch (place) {
            case "request" -> Limited.answer(limited::request);
            case "supplied" ->
                executor.supplyAsync(() -> Limited.answer(limited::supplied)).join();
            case "submitted" ->
                executor.submit(() -> Limited.answer(limited::submitted)).get();
            case "own" -> onOwnThread();
            default -> throw new IllegalArgumentException(place);
        };
        return out -> out.write(answer.getBytes(StandardCharsets.UTF_8));
    }

    private String onOwnThread() throws InterruptedException {
        BlockingQueue<String> answers = new ArrayBlockingQueue<>(1);
        new Thread(() -> answers.add(Limited.answer(limited::own))).start();
        return answers.take();
    }
}
