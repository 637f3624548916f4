// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.Transactional;

/** A bean that calls a limited bean in a new transaction. */
@ApplicationScoped
public class Accountant {
    @Inject
    Ledger ledger;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry transaction;

    @Transactional
    public String book() {
        String outcome;
        try {
            outcome = ledger.book();
        } catch (RateLimitExceededException e) {
            outcome = "rejected";
        }
        return outcome + (transaction.getRollbackOnly() ? ", must roll back" : ", may commit");
    }
}
