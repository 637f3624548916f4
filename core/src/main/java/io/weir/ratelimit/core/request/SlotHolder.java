// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import org.jspecify.annotations.Nullable;

/**
 * The slots of a request, from the first one that it takes to its end. The end of a request without slots writes one field.
 *
 * <p>This is a superclass and not a part of the state, so that a request without slots has no object for it.
 */
public abstract sealed class SlotHolder permits RequestState {
    /** Releases the slots; null unless the request holds some. */
    private volatile @Nullable Runnable release;

    /** The outcome of a request that holds slots; null if it is not known yet. */
    private volatile @Nullable Boolean succeeded;

    /** The calls that share the slots. Guarded by this. */
    private int sharing;

    private volatile boolean ended;
    private volatile boolean endAwaited;

    SlotHolder() {}

    /**
     * Lets the request hold slots until it ends, when the releaser releases all. Returns false if the request has ended, so that the caller
     * has to release the slots.
     */
    public synchronized boolean holdSlots(Runnable releaser) {
        Runnable before = release;
        release = releaser;
        if (ended) {
            release = before;
            return false;
        }
        return true;
    }

    /**
     * Lets a call of a bean share the slots of the request. They are released when the request and all of these calls have ended. Returns
     * false if the request holds no slots.
     */
    public synchronized boolean shareSlots() {
        if (release == null) {
            return false;
        }
        sharing++;
        return true;
    }

    /** Ends a call that {@linkplain #shareSlots shares} the slots of the request. */
    public void endShare() {
        Runnable due;
        synchronized (this) {
            sharing--;
            due = takeRelease();
        }
        run(due);
    }

    /** Returns what releases the slots if nothing uses them any longer, else null. The caller holds the monitor. */
    private @Nullable Runnable takeRelease() {
        if (!ended || sharing > 0) {
            return null;
        }
        Runnable due = release;
        release = null;
        return due;
    }

    private static void run(@Nullable Runnable due) {
        if (due != null) {
            due.run();
        }
    }

    /** Tests whether the request holds slots, from the first one to the end of the request. */
    public boolean holdsSlots() {
        return release != null;
    }

    /**
     * Records the first outcome of a request that holds slots. Its charges are settled when it ends, because a refund releases slots.
     * Returns false if the request holds no slots, so that the caller has to settle its charges.
     */
    public boolean endsWith(boolean outcome) {
        if (release == null) {
            return false;
        }
        synchronized (this) {
            succeeded = succeeded == null ? Boolean.valueOf(outcome) : succeeded;
            return release != null;
        }
    }

    /** Returns the outcome of a request that holds slots, false if it has failed or has no response. */
    public boolean hasSucceeded() {
        return Boolean.TRUE.equals(succeeded);
    }

    /** Records that an event of the response is going to end the request. */
    public void awaitEnd() {
        endAwaited = true;
    }

    /** Tests whether an event of the response ends the request. */
    public boolean isEndAwaited() {
        return endAwaited;
    }

    /** Ends the request, so that its slots are released. Only the first call has an effect. */
    public void end() {
        ended = true;
        if (release != null) {
            Runnable due;
            synchronized (this) {
                due = takeRelease();
            }
            run(due);
        }
    }
}
