// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.rest;

import io.weir.ratelimit.interceptor.rest.RateLimitFeature;
import jakarta.ws.rs.core.Application;
import java.io.ByteArrayOutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.glassfish.jersey.internal.MapPropertiesDelegate;
import org.glassfish.jersey.server.ApplicationHandler;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.ContainerResponse;
import org.glassfish.jersey.server.ResourceConfig;

/** Jersey. */
final class JerseyAdapter implements RestAdapter {
    private static final System.Logger LOG = System.getLogger(JerseyAdapter.class.getName());

    private final ApplicationHandler handler;

    JerseyAdapter(Application application) {
        this.handler = new ApplicationHandler(
                ResourceConfig.forApplication(application).property(RateLimitFeature.WITHOUT_SERVLETS, true));
    }

    @Override
    public Reply call(Call call) {
        ContainerRequest request = new ContainerRequest(
                call.base(),
                call.uri(),
                call.method(),
                call.security(),
                new MapPropertiesDelegate(call.properties()),
                handler.getConfiguration());
        call.fields().forEach((name, values) -> request.getHeaders().addAll(name, values));
        request.setEntityStream(call.body());
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try {
            ContainerResponse response = handler.apply(request, body).get(LONGEST_CALL_SECONDS, TimeUnit.SECONDS);
            return new Reply(
                    response.getStatus(),
                    Map.copyOf(response.getStringHeaders()),
                    body.toString(StandardCharsets.UTF_8));
        } catch (ExecutionException e) {
            LOG.log(Level.ERROR, "the resource of " + call.uri() + " failed", e.getCause());
            return Reply.of(500);
        } catch (TimeoutException e) {
            throw new IllegalStateException("the call has no response after " + LONGEST_CALL_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
