// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.it.ContainerThreads;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;

/** Resources without limits that call limited beans, and those of the test itself. */
@Path("")
@RequestScoped
@RateLimitExempt
public class BeanCallResource {
    @Inject
    SlotBean bean;

    @Inject
    Running running;

    @Inject
    RateLimiter limiter;

    private final ExecutorService executor = ContainerThreads.executor();

    /** Calls the bean twice, which takes one slot. */
    @GET
    @Path("beans/call")
    public String call() {
        return bean.call() + bean.call();
    }

    @GET
    @Path("beans/stage")
    public CompletionStage<String> stage() {
        return bean.stage();
    }

    @GET
    @Path("beans/code")
    public boolean code(@HeaderParam("X-Client") String client) {
        Decision taken = limiter.acquire("one", Identity.of(client));
        boolean second = limiter.acquire("one", Identity.of(client)).allowed();
        limiter.release(taken.receipt());
        return taken.allowed() && !second;
    }

    /** Starts a call outside of a request. */
    @POST
    @Path("beans/work")
    public void work(@HeaderParam("X-Client") String client) {
        CompletableFuture<String> end = running.start(client);
        executor.execute(() -> bean.work(client, end));
    }

    @POST
    @Path("beans/work-later")
    public void workLater(@HeaderParam("X-Client") String client) {
        CompletableFuture<String> end = running.start(client);
        executor.execute(() -> bean.workLater(client, end));
    }

    /** Returns the free slots of a client. */
    @GET
    @Path("free/{policy}")
    public long free(@PathParam("policy") String policy, @HeaderParam("X-Client") String client) {
        List<Quota> quotas = policy.equals("by-argument")
                ? limiter.peek(policy, Identity.argument("client", client))
                : limiter.peek(policy);
        return quotas.get(quotas.size() - 1).remaining();
    }

    @GET
    @Path("running")
    public boolean isRunning(@HeaderParam("X-Client") String client) {
        return running.isRunning(client);
    }

    @POST
    @Path("end/{how}")
    public boolean end(@HeaderParam("X-Client") String client, @PathParam("how") String how) {
        return running.end(client, how);
    }
}
