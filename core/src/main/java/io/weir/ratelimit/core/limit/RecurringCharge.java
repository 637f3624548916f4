// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Charge;
import java.util.AbstractList;
import java.util.Objects;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * The only charge of a call, as a list that later calls with the same key reuse. It keeps the state and the counter of the key, so that
 * the backend and the top keys need not search for them at each call. They check that these are still valid.
 */
public class RecurringCharge extends AbstractList<Charge> implements RandomAccess {
    private final Charge charge;
    private final int storedKeyHash;
    private volatile @Nullable Object state;
    private volatile @Nullable Object counter;

    /**
     * Creates a list of one charge.
     *
     * @param charge the charge
     */
    public RecurringCharge(Charge charge) {
        super();
        this.charge = charge;
        this.storedKeyHash = charge.storedKey().hashCode();
    }

    @Override
    public final Charge get(int index) {
        Objects.checkIndex(index, 1);
        return charge;
    }

    @Override
    public final int size() {
        return 1;
    }

    /**
     * Returns the hash code of the stored key. It is kept here, so that the key need not be read.
     *
     * @return the hash code
     */
    public final int storedKeyHash() {
        return storedKeyHash;
    }

    /**
     * Returns what the backend has kept.
     *
     * @return an object of the backend, null if it has kept none
     */
    public final @Nullable Object state() {
        return state;
    }

    /**
     * Keeps an object of the backend.
     *
     * @param found the object
     */
    public final void state(Object found) {
        state = found;
    }

    /**
     * Returns what the top keys have kept.
     *
     * @return an object of the top keys, null if they have kept none
     */
    public final @Nullable Object counter() {
        return counter;
    }

    /**
     * Keeps an object of the top keys.
     *
     * @param found the object, null to keep none
     */
    public final void counter(@Nullable Object found) {
        counter = found;
    }
}
