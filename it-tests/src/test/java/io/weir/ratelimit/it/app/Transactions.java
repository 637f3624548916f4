// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.concurrent.atomic.AtomicReference;

/** The outcomes of transactions. */
@ApplicationScoped
public class Transactions {
    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    /** Records how the transaction of the caller ends. */
    public void record(AtomicReference<String> outcome) {
        outcome.set("not ended");
        registry.registerInterposedSynchronization(new Synchronization() {
            @Override
            public void beforeCompletion() {}

            @Override
            public void afterCompletion(int status) {
                outcome.set(status == Status.STATUS_COMMITTED ? "committed" : "rolled back");
            }
        });
    }
}
