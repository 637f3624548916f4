// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.DeferredQuotas;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.List;

/** The quota of a spent charge of one limit. */
public final class ChargedQuotas extends DeferredQuotas {
    private final Charge charge;
    private final LimitState state;
    private final long nowMicros;

    /**
     * Creates a list of one quota.
     *
     * @param charge the charge, whose policy has one limit
     * @param state the state right after the charge was spent
     * @param nowMicros the instant of the charge, in microseconds
     */
    public ChargedQuotas(Charge charge, LimitState state, long nowMicros) {
        super(1);
        this.charge = charge;
        this.state = state;
        this.nowMicros = nowMicros;
    }

    /**
     * Returns the remaining permits of the quota, which other parts of it need not be calculated for.
     *
     * @return {@link Quota#remaining()}
     */
    public long remaining() {
        return state.remaining(limit(), nowMicros);
    }

    /**
     * Returns the capacity of the limit.
     *
     * @return {@link Quota#capacity()}
     */
    public long capacity() {
        return limit().capacity();
    }

    /**
     * Returns the instant of the charge.
     *
     * @return microseconds of the backend's clock
     */
    public long nowMicros() {
        return nowMicros;
    }

    private Limit limit() {
        return charge.policy().limits().get(0);
    }

    @Override
    protected List<Quota> calculate() {
        return List.of(QuotaCalculator.quota(charge, 0, state, true, nowMicros));
    }
}
