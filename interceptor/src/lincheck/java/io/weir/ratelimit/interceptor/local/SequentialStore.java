// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import java.util.Map;
import java.util.TreeMap;

/**
 * What {@link ConcurrentStore} must look like to each of its callers: a map that one of them uses at a time. Each key has
 * {@link #PERMITS} permits, of which none returns by itself; there are places for {@link #MAX_KEYS} keys that count.
 */
public class SequentialStore {
    static final int PERMITS = 3;
    static final int MAX_KEYS = 2;
    static final int KEYS = 3;

    static final String FULL = "full";

    private final Map<Integer, Integer> spent = new TreeMap<>();
    private boolean receiptUsed;

    /** The first key and the second are charged, with one receipt for both. */
    public SequentialStore() {
        spent.put(0, 1);
        spent.put(1, 1);
    }

    public String acquire(int key, int cost) {
        return acquireAll(cost, key);
    }

    public String acquireBoth(int key) {
        return acquireAll(1, key, next(key));
    }

    static int next(int key) {
        return (key + 1) % KEYS;
    }

    private String acquireAll(int cost, int... keys) {
        boolean fits = true;
        int missing = 0;
        for (int key : keys) {
            fits &= spentOn(key) + cost <= PERMITS;
            missing += spent.containsKey(key) ? 0 : 1;
        }
        if (fits && spent.size() + missing > MAX_KEYS) {
            return FULL;
        }
        StringBuilder left = new StringBuilder(fits ? "allowed" : "refused");
        for (int key : keys) {
            if (fits) {
                spent.merge(key, cost, Integer::sum);
            }
            left.append(' ').append(PERMITS - spentOn(key));
        }
        return left.toString();
    }

    public int peek(int key) {
        return PERMITS - spentOn(key);
    }

    public void giveBackReceipt() {
        if (!receiptUsed) {
            refund(0, 1);
            refund(1, 1);
        }
        receiptUsed = true;
    }

    public void refund(int key, int cost) {
        spent.computeIfPresent(key, (any, was) -> was > cost ? was - cost : null);
    }

    public void reset(int key) {
        spent.remove(key);
    }

    public int size() {
        return spent.size();
    }

    private int spentOn(int key) {
        return spent.getOrDefault(key, 0);
    }
}
