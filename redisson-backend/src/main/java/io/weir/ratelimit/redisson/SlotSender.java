// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.redisson.script.SlotCodec;
import io.weir.ratelimit.redisson.script.SlotCodec.Slot;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends releases and renewals of slots, without waiting. Releases that arrive while others have no reply yet are sent together, in one
 * script call (in a cluster, those of the same slot of the cluster). Their number is bounded by that of the slots that running calls hold, and that of
 * {@link UnclaimedSlots}.
 */
final class SlotSender {
    private static final int MAX_IN_FLIGHT = 2;

    /** The slots of one call. As many keys block Redis for about 0.2 ms. */
    private static final int MAX_SLOTS = 64;

    private record Entry(Slot slot, CompletableFuture<Boolean> had) {}

    /** The releases of one slot of a cluster, or of all keys without a cluster. Guarded by the lock. */
    private static final class Releases {
        final ArrayDeque<Entry> waiting = new ArrayDeque<>();
        int inFlight;
    }

    private final ScriptSender scripts;
    private final RedisKeys keys;
    private final Duration deadline;
    private final ReentrantLock lock = new ReentrantLock();

    /** By slot of the cluster: a master that does not answer holds up its own releases only. Guarded by the lock. */
    private final Map<Integer, Releases> releases = new HashMap<>();

    /** Creates a sender. A call may be sent again until the deadline if Redis did not run it. */
    SlotSender(ScriptSender scripts, RedisKeys keys, Duration deadline) {
        this.scripts = scripts;
        this.keys = keys;
        this.deadline = deadline;
    }

    /** Releases the slots of charges. Completes with whether each of them was held. */
    CompletableFuture<List<Boolean>> release(List<ChargeStates> charges) {
        return releaseSlots(slots(charges));
    }

    /** Returns the slots of those charges that have one. */
    List<Slot> slots(List<ChargeStates> charges) {
        List<Slot> slots = new ArrayList<>(charges.size());
        for (ChargeStates charged : charges) {
            if (charged.charge().policy().hasConcurrency()) {
                slots.add(slot(charged));
            }
        }
        return slots;
    }

    /** Releases slots, which need not be held. Completes with whether each of them was held. */
    CompletableFuture<List<Boolean>> releaseSlots(List<Slot> slots) {
        if (slots.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        List<Entry> entries = slots.stream().map(SlotSender::entry).toList();
        Set<Releases> changed = new LinkedHashSet<>();
        lock.lock();
        try {
            for (Entry entry : entries) {
                Releases ofSlot = releases.computeIfAbsent(slotOf(entry), slot -> new Releases());
                ofSlot.waiting.add(entry);
                changed.add(ofSlot);
            }
        } finally {
            lock.unlock();
        }
        changed.forEach(this::sendNext);
        return had(entries);
    }

    private static CompletableFuture<List<Boolean>> had(List<Entry> entries) {
        return CompletableFuture.allOf(entries.stream().map(Entry::had).toArray(CompletableFuture<?>[]::new))
                .thenApply(done ->
                        entries.stream().map(entry -> entry.had().join()).toList());
    }

    /** Renews the slots of charges. Completes with whether each of them was held; a key with a foreign value holds none. */
    CompletableFuture<List<Boolean>> renew(List<ChargeStates> charges) {
        List<Entry> entries =
                charges.stream().map(this::slot).map(SlotSender::entry).toList();
        for (int from = 0; from < entries.size(); from += MAX_SLOTS) {
            Map<Integer, List<Entry>> bySlot = new HashMap<>();
            for (Entry entry : entries.subList(from, Math.min(entries.size(), from + MAX_SLOTS))) {
                bySlot.computeIfAbsent(slotOf(entry), slot -> new ArrayList<>()).add(entry);
            }
            for (List<Entry> ofSlot : bySlot.values()) {
                CompletionStage<?> unused = send(ofSlot, true);
            }
        }
        return had(entries);
    }

    /** Returns the slot of the cluster, -1 without a cluster. */
    private int slotOf(Entry entry) {
        return scripts.redis().slot(entry.slot().key());
    }

    private static Entry entry(Slot slot) {
        return new Entry(slot, new CompletableFuture<>());
    }

    private Slot slot(ChargeStates charged) {
        return Slot.of(
                keys.of(charged.charge()), charged.slot(), charged.charge().policy());
    }

    private void sendNext(Releases ofSlot) {
        List<Entry> batch = new ArrayList<>();
        lock.lock();
        try {
            if (ofSlot.inFlight == MAX_IN_FLIGHT || ofSlot.waiting.isEmpty()) {
                return;
            }
            ofSlot.inFlight++;
            while (batch.size() < MAX_SLOTS && !ofSlot.waiting.isEmpty()) {
                batch.add(ofSlot.waiting.remove());
            }
        } finally {
            lock.unlock();
        }
        CompletionStage<?> sent = send(batch, false);
        sent.whenComplete((reply, failure) -> {
            lock.lock();
            try {
                ofSlot.inFlight--;
            } finally {
                lock.unlock();
            }
            sendNext(ofSlot);
        });
    }

    /** Sends entries of one slot of a cluster, and completes them. */
    private CompletionStage<?> send(List<Entry> entries, boolean renews) {
        Map<String, List<Slot>> byKey = new LinkedHashMap<>();
        Map<String, List<Entry>> entriesByKey = new LinkedHashMap<>();
        for (Entry entry : entries) {
            String key = entry.slot().key();
            byKey.computeIfAbsent(key, same -> new ArrayList<>()).add(entry.slot());
            entriesByKey.computeIfAbsent(key, same -> new ArrayList<>()).add(entry);
        }
        List<Entry> inOrder =
                entriesByKey.values().stream().flatMap(List::stream).toList();
        CompletionStage<?> sent = scripts.send(
                Script.RELEASE,
                List.copyOf(byKey.keySet()),
                nowMicros -> SlotCodec.encode(renews, byKey.values(), nowMicros),
                System.nanoTime() + deadline.toNanos());
        return sent.whenComplete((reply, failure) -> {
            for (int i = 0; i < inOrder.size(); i++) {
                complete(inOrder.get(i), renews, reply, failure, i);
            }
        });
    }

    /** Completes an entry in any case. One that is never completed would end all renewals, so an unexpected reply fails it. */
    private static void complete(
            Entry entry, boolean renews, @Nullable Object reply, @Nullable Throwable failure, int index) {
        try {
            if (failure != null) {
                throw failure;
            }
            byte[] bytes = (byte[]) Objects.requireNonNull(reply);
            if (!renews && SlotCodec.isForeign(bytes, index)) {
                throw Batch.foreignState();
            }
            entry.had().complete(SlotCodec.had(bytes, index));
        } catch (Throwable e) {
            entry.had().completeExceptionally(RedisFailures.toBackendException(e));
        }
    }
}
