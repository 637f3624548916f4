// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** A resource without limits that calls limited beans. */
@Path("bean")
@RequestScoped
public class BeanResource {
    @Inject
    Accountant accountant;

    @Inject
    AtStart atStart;

    @Inject
    Cart cart;

    @Inject
    Clerk clerk;

    @Inject
    Flaky flaky;

    @Inject
    Keeper keeper;

    @Inject
    Ledger ledger;

    @Inject
    Work work;

    @Resource
    ManagedExecutorService executor;

    @GET
    @Path("session")
    public String session() {
        return cart.add();
    }

    @GET
    @Path("stateless")
    public String stateless() {
        return clerk.serve();
    }

    @GET
    @Path("singleton")
    public String singleton() {
        return keeper.keep();
    }

    /** Returns the type of the exception that a caller receives. */
    @GET
    @Path("caught")
    public String caught() {
        try {
            return clerk.serve();
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }

    @GET
    @Path("retried")
    public String retried() {
        try {
            return flaky.alwaysFails();
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }

    @GET
    @Path("attempts")
    public int attempts() {
        return flaky.attempts();
    }

    @GET
    @Path("asynchronous")
    public String asynchronous() throws Exception {
        CompletionStage<String> result;
        try {
            result = flaky.asynchronous();
        } catch (RateLimitExceededException e) {
            return "rejected at the call";
        }
        return result.toCompletableFuture().get();
    }

    @GET
    @Path("book")
    public String book() {
        return accountant.book();
    }

    @GET
    @Path("mandatory")
    public String mandatory() {
        return ledger.mandatory();
    }

    /** Calls a bean three times on threads of the container. */
    @GET
    @Path("detached")
    public String detached() throws Exception {
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try {
                answers.add(executor.submit(work::detached).get());
            } catch (ExecutionException e) {
                answers.add(e.getCause().getClass().getSimpleName());
            }
        }
        return answers.toString();
    }

    @GET
    @Path("at-start")
    public String atStart() {
        return atStart.answers().toString();
    }
}
