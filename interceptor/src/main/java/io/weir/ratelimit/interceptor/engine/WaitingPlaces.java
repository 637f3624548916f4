// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.interceptor.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many calls wait under each policy in this process. A place is looked for before the store is asked, so that a call that could not wait is
 * given no slot, and taken when the answer is that the call must wait; calls that ask at once can find the last place gone by then.
 */
final class WaitingPlaces {
    private final Map<String, AtomicInteger> taken = new ConcurrentHashMap<>();

    boolean isFree(Policy policy) {
        return of(policy).get() < policy.maxWaiting();
    }

    /** Takes a place of each policy, or none. */
    boolean take(List<Policy> policies) {
        for (int i = 0; i < policies.size(); i++) {
            if (!take(policies.get(i))) {
                leave(policies.subList(0, i));
                return false;
            }
        }
        return true;
    }

    private boolean take(Policy policy) {
        AtomicInteger count = of(policy);
        for (int waiting = count.get(); waiting < policy.maxWaiting(); waiting = count.get()) {
            if (count.compareAndSet(waiting, waiting + 1)) {
                return true;
            }
        }
        return false;
    }

    void leave(List<Policy> policies) {
        policies.forEach(policy -> of(policy).decrementAndGet());
    }

    private AtomicInteger of(Policy policy) {
        AtomicInteger known = taken.get(policy.name());
        return known != null ? known : taken.computeIfAbsent(policy.name(), name -> new AtomicInteger());
    }
}
