// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.util.concurrent.atomic.AtomicReference;

/** A bean with a transaction that calls a limited bean. */
@ApplicationScoped
public class TransactionalOrders {
    @Inject
    Mail mail;

    @Inject
    Transactions transactions;

    /** Does a part of its work before the call that can be rejected. */
    @Transactional
    public void place(AtomicReference<String> outcome) {
        transactions.record(outcome);
        mail.send();
    }
}
