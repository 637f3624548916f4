// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The result of a decision on one charge of one limit that was spent. It is calculated when it is first read, because many callers read
 * only whether the call is allowed. Several threads can calculate it at the same time.
 */
public final class ChargedResults extends AbstractList<ChargeResult> implements RandomAccess {
    private final Charge charge;
    private final LimitState state;
    private final long nowMicros;

    /** The calculated result, which is immutable and therefore safe to read without synchronization. */
    private @Nullable ChargeResult known;

    /** Creates a list of one result of a charge of an enforced policy with one limit, with the state right after it was spent. */
    public ChargedResults(Charge charge, LimitState state, long nowMicros) {
        super();
        this.charge = charge;
        this.state = state;
        this.nowMicros = nowMicros;
    }

    /** Tests whether a shadow charge was evaluated, without a calculation. */
    public static boolean hasShadowQuotas(Decision decision) {
        return !(decision.results() instanceof ChargedResults)
                && !decision.shadowQuotas().isEmpty();
    }

    /** Returns the remaining permits of the quota, which other parts of it need not be calculated for. */
    public long remaining() {
        return state.remaining(limit(), nowMicros);
    }

    /** Returns the capacity of the limit. */
    public long capacity() {
        return limit().capacity();
    }

    /** Returns the instant of the charge, in microseconds of the backend's clock. */
    public long nowMicros() {
        return nowMicros;
    }

    private Limit limit() {
        return charge.policy().limits().get(0);
    }

    @Override
    public ChargeResult get(int index) {
        Objects.checkIndex(index, 1);
        ChargeResult result = known;
        if (result == null) {
            Quota quota = state.quota(charge, 0, true, nowMicros);
            result = new ChargeResult(charge.policy().policy(), false, List.of(quota));
            known = result;
        }
        return result;
    }

    @Override
    public int size() {
        return 1;
    }

    /** A backend in the process of its caller. Its decisions are so fast that a read of the clock or a search for a key counts. */
    public interface InProcessBackend extends RateLimitBackend {
        /** Returns the instant of a decision by {@link System#nanoTime}, so that its caller need not read the clock again. */
        long atNanos(ChargedResults results);

        /** Returns the acquire of charges, which decides and spends each time. It may remember where the state of a key is. */
        default Supplier<Decision> acquireOf(List<Charge> charges) {
            return () -> acquire(charges);
        }
    }
}
