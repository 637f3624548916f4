// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * The quota of a spent charge of one limit. It is calculated when it is first read, because many callers read only whether the call is
 * allowed. Several threads can calculate it at the same time.
 */
public final class ChargedQuotas extends AbstractList<Quota> implements RandomAccess {
    private final Charge charge;
    private final LimitState state;
    private final long nowMicros;

    /** The calculated quota, which is immutable and therefore safe to read without synchronization. */
    private @Nullable Quota known;

    /**
     * Creates a list of one quota.
     *
     * @param charge the charge, whose policy has one limit
     * @param state the state right after the charge was spent
     * @param nowMicros the instant of the charge, in microseconds
     */
    public ChargedQuotas(Charge charge, LimitState state, long nowMicros) {
        super();
        this.charge = charge;
        this.state = state;
        this.nowMicros = nowMicros;
    }

    /** Returns the only result of a decision on the charge. */
    public List<ChargeResult> asResults() {
        return List.of(new ChargeResult(charge.policy().policy(), charge.shadow(), this));
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
    public Quota get(int index) {
        Objects.checkIndex(index, 1);
        Quota quota = known;
        if (quota == null) {
            quota = QuotaCalculator.quota(charge, 0, state, true, nowMicros);
            known = quota;
        }
        return quota;
    }

    @Override
    public int size() {
        return 1;
    }
}
