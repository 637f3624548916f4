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

    /** Fails where there is no transaction: before that, if the limit is asked first, it is refused. */
    @Transactional(Transactional.TxType.MANDATORY)
    @RateLimit("mandatory")
    public String mandatory() {
        return "mandatory";
    }
}
