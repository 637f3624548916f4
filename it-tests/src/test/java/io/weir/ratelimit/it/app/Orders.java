// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/** An enterprise bean that calls a limited bean in its transaction. */
@Stateless
public class Orders {
    @Inject
    Mail mail;

    @Inject
    Transactions transactions;

    /** Does a part of its work before the call that can be rejected. */
    public void place(AtomicReference<String> outcome) {
        transactions.record(outcome);
        mail.send();
    }

    @RateLimit("clerk")
    public CompletionStage<String> offer() {
        return CompletableFuture.completedFuture("offer");
    }
}
