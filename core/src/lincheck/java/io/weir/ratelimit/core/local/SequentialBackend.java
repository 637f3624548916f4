// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The sequential specification of {@link ConcurrentBackend}: a map that one caller uses at a time. Each key has {@link #PERMITS}
 * permits, which return only by a refund or a reset. The map has places for {@link #MAX_KEYS} keys.
 */
public class SequentialBackend {
    static final int PERMITS = 3;
    static final int MAX_KEYS = 2;
    static final int KEYS = 3;

    static final String FULL = "full";

    private final Map<Integer, Integer> spent = new TreeMap<>();
    private final Set<Integer> blocked = new TreeSet<>();
    private boolean receiptRefunded;

    /** Creates a backend in which one receipt covers a charge of the first key and a charge of the second key. */
    public SequentialBackend() {
        spent.put(0, 1);
        spent.put(1, 1);
    }

    public String acquire(int key, int cost) {
        return acquireAll(cost, key);
    }

    public String acquireOne(int key) {
        return acquire(key, 1);
    }

    public String acquireOfFirstKey(int cost) {
        return acquire(0, cost);
    }

    public void refundOfFirstKey(int cost) {
        refund(0, cost);
    }

    public int peekAtFirstKey() {
        return peek(0);
    }

    public String acquireBoth(int key) {
        return acquireAll(1, key, next(key));
    }

    static int next(int key) {
        return (key + 1) % KEYS;
    }

    private String acquireAll(int cost, int... keys) {
        boolean hasRoom = true;
        int newKeys = 0;
        for (int key : keys) {
            hasRoom &= spentOn(key) + cost <= PERMITS && !blocked.contains(key);
            newKeys += spent.containsKey(key) ? 0 : 1;
        }
        if (hasRoom && spent.size() + newKeys > MAX_KEYS) {
            return FULL;
        }
        StringBuilder result = new StringBuilder(hasRoom ? "allowed" : "rejected");
        for (int key : keys) {
            if (hasRoom) {
                spent.merge(key, cost, Integer::sum);
            }
            result.append(' ').append(peek(key));
        }
        return result.toString();
    }

    public int peek(int key) {
        return blocked.contains(key) ? 0 : PERMITS - spentOn(key);
    }

    public void block(int key) {
        blocked.add(key);
    }

    public void unblock(int key) {
        blocked.remove(key);
    }

    public void refundReceipt() {
        if (!receiptRefunded) {
            refund(0, 1);
            refund(1, 1);
        }
        receiptRefunded = true;
    }

    public void refund(int key, int cost) {
        spent.computeIfPresent(key, (any, was) -> was > cost ? was - cost : null);
    }

    public void reset(int key) {
        spent.remove(key);
        blocked.remove(key);
    }

    public int size() {
        return spent.size();
    }

    private int spentOn(int key) {
        return spent.getOrDefault(key, 0);
    }
}
