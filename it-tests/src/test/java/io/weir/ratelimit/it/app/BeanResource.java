// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A resource that calls limited beans. Its own limit is one that only the interceptor can decide. */
@Path("bean")
@RequestScoped
public class BeanResource {
    @Inject
    Accountant accountant;

    @Inject
    AtStart atStart;

    @Inject
    Background background;

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
    Orders orders;

    @Inject
    TransactionalOrders transactionalOrders;

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
    public CompletionStage<String> asynchronous() {
        return outcome(flaky.asynchronous());
    }

    private static CompletionStage<String> outcome(CompletionStage<String> stage) {
        return stage.handle((value, failure) ->
                failure == null ? value : "failed with " + failure.getClass().getSimpleName());
    }

    @GET
    @Path("enterprise-stage")
    public CompletionStage<String> enterpriseStage() {
        return outcome(orders.offer());
    }

    @GET
    @Path("argument-stage")
    @RateLimit("by-argument-of-bean")
    public CompletionStage<String> argumentStage(@QueryParam("user") @RateLimitKey("user") String user) {
        return CompletableFuture.completedFuture("hello " + user);
    }

    @GET
    @Path("failed-stage")
    public CompletionStage<String> failedStage() {
        return orders.offer();
    }

    /** Returns whether the bean has thrown, and how its transaction has ended. */
    @GET
    @Path("order")
    public String order(@QueryParam("bean") String bean) {
        AtomicReference<String> outcome = new AtomicReference<>();
        String result = "placed";
        try {
            if (bean.equals("enterprise")) {
                orders.place(outcome);
            } else {
                transactionalOrders.place(outcome);
            }
        } catch (RuntimeException e) {
            result = e.getClass().getSimpleName();
        }
        return result + ", " + outcome;
    }

    /** Calls a method that ends after its call has returned. */
    @GET
    @Path("background")
    public CompletionStage<String> background() {
        CompletableFuture<String> returned = new CompletableFuture<>();
        CompletionStage<String> report =
                background.report(returned.completeOnTimeout("the same thread", 10, TimeUnit.SECONDS));
        returned.complete("another thread");
        return report;
    }

    @GET
    @Path("background-void")
    public String backgroundVoid() {
        background.clean();
        return "started";
    }

    @GET
    @Path("background-paced")
    public CompletionStage<String> backgroundPaced() {
        return background.paced();
    }

    /** Calls a method with one slot, and calls it again while the first call runs. */
    @GET
    @Path("background-slot")
    public String backgroundSlot() throws Exception {
        CompletableFuture<String> end = new CompletableFuture<>();
        Future<CompletableFuture<String>> first = executor.submit(() -> background.slot(end));
        CompletionStage<String> running = first.get();
        CompletionStage<String> second = executor.submit(
                        () -> background.slot(CompletableFuture.completedFuture("second")))
                .get();
        String rejected = outcome(second).toCompletableFuture().get();
        end.complete("first");
        String ended = running.toCompletableFuture().get();
        CompletionStage<String> third = executor.submit(
                        () -> background.slot(CompletableFuture.completedFuture("third")))
                .get();
        return ended + ", " + rejected + ", "
                + outcome(third).toCompletableFuture().get();
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
