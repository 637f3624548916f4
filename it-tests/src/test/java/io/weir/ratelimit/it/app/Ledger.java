// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;

@ApplicationScoped
public class Ledger {
    @Transactional
    @RateLimit("booked")
    public String book() {
        return "booked";
    }

    /** Fails without a transaction. If the limit is decided first, the call is rejected instead. */
    @Transactional(Transactional.TxType.MANDATORY)
    @RateLimit("mandatory")
    public String mandatory() {
        return "mandatory";
    }
}
