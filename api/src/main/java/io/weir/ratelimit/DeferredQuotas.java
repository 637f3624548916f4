// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * An immutable list of quotas that is calculated when it is first read. A backend can return it in an allowed decision, because many
 * callers read only whether the call is allowed. Several threads can calculate it at the same time.
 */
public abstract class DeferredQuotas extends AbstractList<Quota> implements RandomAccess {
    /** A list of {@link List#of}, which is safe to read without synchronization. */
    private @Nullable List<Quota> known;

    private final int size;

    /**
     * Creates a list that is not calculated yet.
     *
     * @param size the number of quotas
     */
    protected DeferredQuotas(int size) {
        super();
        this.size = size;
    }

    /**
     * Calculates the quotas.
     *
     * @return the quotas, equal for each call, as many as the size of this list
     */
    protected abstract List<Quota> calculate();

    private List<Quota> known() {
        List<Quota> quotas = known;
        if (quotas == null) {
            quotas = List.copyOf(calculate());
            known = quotas;
        }
        return quotas;
    }

    @Override
    public final Quota get(int index) {
        return known().get(index);
    }

    @Override
    public final int size() {
        return size;
    }
}
