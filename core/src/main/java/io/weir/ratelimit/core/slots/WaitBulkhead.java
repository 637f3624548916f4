// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import io.weir.ratelimit.core.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/**
 * The bound on the calls that wait at once under each policy in this process. Calls that hold a thread and calls that hold none have
 * one each.
 *
 * <p>A call checks for room before it calls the backend, so that a call that cannot wait reserves no permits. It enters after the
 * backend has answered that it must wait; by then, other calls can have entered.
 */
public final class WaitBulkhead {
    private final ToIntFunction<Policy> bound;
    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();

    /** Creates a bound that each policy determines. */
    public WaitBulkhead(ToIntFunction<Policy> bound) {
        this.bound = bound;
    }

    /** Creates the bound on calls that hold a thread while they wait. */
    public static WaitBulkhead ofThreads() {
        return new WaitBulkhead(Policy::maxWaiting);
    }

    /** Creates the bound on calls that hold only memory while they wait. */
    public static WaitBulkhead withoutThreads() {
        return new WaitBulkhead(policy -> Policy.MAX_WAITING_WITHOUT_THREAD);
    }

    public boolean hasRoom(Policy policy) {
        return count(policy).get() < bound.applyAsInt(policy);
    }

    /** Enters under all policies, or under none if one of them has no room. */
    public boolean tryEnter(List<Policy> policies) {
        for (int i = 0; i < policies.size(); i++) {
            if (!tryEnter(policies.get(i))) {
                leave(policies.subList(0, i));
                return false;
            }
        }
        return true;
    }

    private boolean tryEnter(Policy policy) {
        AtomicInteger count = count(policy);
        for (int calls = count.get(); calls < bound.applyAsInt(policy); calls = count.get()) {
            if (count.compareAndSet(calls, calls + 1)) {
                return true;
            }
        }
        return false;
    }

    public void leave(List<Policy> policies) {
        for (Policy policy : policies) {
            count(policy).decrementAndGet();
        }
    }

    private AtomicInteger count(Policy policy) {
        AtomicInteger count = waiting.get(policy.name());
        return count != null ? count : waiting.computeIfAbsent(policy.name(), name -> new AtomicInteger());
    }
}
