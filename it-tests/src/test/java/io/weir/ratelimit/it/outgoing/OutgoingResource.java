// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.RateLimitClientFilter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.ProcessingException;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.client.Invocation;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.rest.client.RestClientBuilder;
import org.eclipse.microprofile.rest.client.inject.RestClient;

/** Calls the upstream, and writes the status of its response or the rejection. */
@RequestScoped
@Path("outgoing")
@Produces("text/plain")
public class OutgoingResource {
    private static final int WITHIN_SECONDS = 30;

    @Inject
    private RateLimiter limiter;

    @Inject
    private Retries retries;

    @Inject
    @RestClient
    private InheritedPartner injected;

    @QueryParam("upstream")
    private URI upstream;

    @QueryParam("account")
    private String account;

    @GET
    @Path("{how}")
    public String call(@PathParam("how") String how) throws Exception {
        try {
            return Integer.toString(status(how));
        } catch (WebApplicationException e) { // of the default mapper of the interface
            return Integer.toString(e.getResponse().getStatus());
        } catch (Exception e) {
            return RateLimitClientFilter.rejection(e)
                    .map(rejection -> "rejected "
                            + rejection
                                    .retryAfter()
                                    .map(wait -> wait.toSeconds())
                                    .orElse(-1L))
                    .orElseThrow(() -> e);
        }
    }

    @GET
    @Path("remaining")
    public long remaining() {
        return limiter.peek("calls", Identity.of(account)).get(0).remaining();
    }

    @GET
    @Path("retried")
    public String retried() throws Exception {
        try (RetriedPartner partner =
                RestClientBuilder.newBuilder().baseUri(upstream).build(RetriedPartner.class)) {
            return retries.call(partner, account);
        } catch (RuntimeException e) {
            return RateLimitClientFilter.rejection(e).isPresent() ? "rejected" : e.toString();
        }
    }

    private int status(String how) throws Exception {
        if (how.equals("inherited")) {
            return statusOfInheritedMethod();
        }
        if (how.equals("injected")) {
            return statusOfInjectedClient();
        }
        return how.startsWith("interface") ? statusOfInterface(how) : statusOfClient(how);
    }

    /** The injected client has an address without an upstream. */
    private int statusOfInjectedClient() {
        try (Response response = injected.items(account)) {
            return response.getStatus();
        } catch (ProcessingException e) {
            if (RateLimitClientFilter.isRejected(e)) {
                throw e;
            }
            return 0;
        }
    }

    private int statusOfInheritedMethod() throws Exception {
        try (InheritedPartner partner =
                        RestClientBuilder.newBuilder().baseUri(upstream).build(InheritedPartner.class);
                Response response = partner.items(account)) {
            return response.getStatus();
        }
    }

    /** Reads the response before the client closes, because Jersey closes its responses as well. */
    private int statusOfInterface(String how) throws Exception {
        try (Partner partner = RestClientBuilder.newBuilder().baseUri(upstream).build(Partner.class);
                Response response = how.equals("interface")
                        ? partner.items(account)
                        : partner.itemsLater(account).toCompletableFuture().get(WITHIN_SECONDS, TimeUnit.SECONDS)) {
            return response.getStatus();
        }
    }

    private int statusOfClient(String how) throws Exception {
        try (Client client = ClientBuilder.newBuilder()
                        .register(new RateLimitClientFilter("partner"))
                        .build();
                Response response = respond(
                        how,
                        client.target(upstream).path("partner/items").request().header("X-Account", account))) {
            return response.getStatus();
        }
    }

    private Response respond(String how, Invocation.Builder request) throws Exception {
        return switch (how) {
            case "client" -> request.get();
            case "client-later" -> request.rx().get().toCompletableFuture().get(WITHIN_SECONDS, TimeUnit.SECONDS);
            default -> acquired(request);
        };
    }

    /** Acquires the permits without a thread, before the call. */
    private Response acquired(Invocation.Builder request) throws InterruptedException, ExecutionException {
        Decision decision = limiter.acquireAsync("calls", Identity.of(account))
                .toCompletableFuture()
                .get();
        return request.property(RateLimitClientFilter.DECISION, decision)
                .rx()
                .get()
                .toCompletableFuture()
                .get();
    }
}
