// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one script call. The script decides on each of them by itself, in order of arrival. Equal requests form one group if
 * no request between them concerns one of their keys. Not thread-safe.
 */
final class Batch {
    /** 64 keys with one limit each block Redis for about 0.15 ms, 256 keys for 0.5 ms. */
    private static final int MAX_LIMITS = 256;

    /** Different requests on one key take time as well: as many as this block Redis for about 1 ms. */
    private static final int MAX_PARTS = 1_024;

    private static final int MAX_GROUP_SIZE = 65_533;

    private final List<Object> keys = new ArrayList<>();
    private final List<List<Limit>> limits = new ArrayList<>();
    private final List<RequestGroup> groups = new ArrayList<>();

    /** For each key the last group that concerns it. */
    private final List<RequestGroup> lastGroups = new ArrayList<>();

    /** The index of each key; null until it is needed. */
    private @Nullable Map<String, Integer> indexes;

    /** The number of limits of all keys. */
    private int limitCount;

    private boolean plain = true;
    private boolean calendarLimit;

    /** The group of the latest request, which therefore is the last one on each of its keys; null without requests. */
    private @Nullable RequestGroup latest;

    private int requests;
    private int parts;
    private long deadlineNanos;
    private long sentNanos;
    private long receivedNanos;

    /** Whether the queue has its place back, after the reply or because a request timed out. Guarded by the lock of the queue. */
    boolean released;

    /** Whether a request timed out while the batch was in flight. Guarded by the lock of the queue. */
    boolean timedOut;

    Batch(AcquireRequest first) {
        add(first);
    }

    /**
     * Adds a request.
     *
     * @return false if the batch is full, or contains one of the keys with other limits
     */
    boolean add(AcquireRequest request) {
        boolean added = addToLatestGroup(request);
        if (!added) {
            int[] keyIndexes = keyIndexes(request);
            added = keyIndexes != null && addToGroup(request, keyIndexes);
        }
        if (added) {
            deadlineNanos =
                    requests == 0 || request.deadlineNanos - deadlineNanos > 0 ? request.deadlineNanos : deadlineNanos;
            requests++;
        }
        return added;
    }

    /** Adds a request to the group of the request before, as most requests of a hot key can be. No keys are searched for that. */
    private boolean addToLatestGroup(AcquireRequest request) {
        RequestGroup group = latest;
        if (group == null || group.size() == MAX_GROUP_SIZE || !request.canGroupWith(group.first())) {
            return false;
        }
        group.add(request);
        return true;
    }

    private boolean addToGroup(AcquireRequest request, int[] keyIndexes) {
        if (limitCountWith(request, keyIndexes) > MAX_LIMITS && !keys.isEmpty()) {
            return false;
        }
        RequestGroup group = lastGroup(request, keyIndexes);
        if (group != null) {
            group.add(request);
            latest = group;
            return true;
        }
        if (parts + limitCount(request) > MAX_PARTS && !keys.isEmpty()) {
            return false;
        }
        addGroup(request, keyIndexes);
        return true;
    }

    /**
     * Returns the index of each key of a request.
     *
     * @return null if the batch contains a key with other limits
     */
    private int @Nullable [] keyIndexes(AcquireRequest request) {
        int[] found = new int[request.keys.size()];
        int unused = keys.size();
        for (int i = 0; i < found.length; i++) {
            Integer known = keys.isEmpty() ? null : indexes().get(request.keys.get(i));
            if (known != null && !limits.get(known).equals(limitsOf(request, i))) {
                return null;
            }
            found[i] = known == null ? unused : known;
            unused = known == null ? unused + 1 : unused;
        }
        return found;
    }

    private static List<Limit> limitsOf(AcquireRequest request, int key) {
        return request.charges.get(key).policy().limits();
    }

    private static int limitCount(AcquireRequest request) {
        int count = 0;
        for (int i = 0; i < request.charges.size(); i++) {
            count += limitsOf(request, i).size();
        }
        return count;
    }

    /** Returns the number of limits of the keys of the batch and of a request. */
    private int limitCountWith(AcquireRequest request, int[] keyIndexes) {
        int count = limitCount;
        for (int i = 0; i < keyIndexes.length; i++) {
            count += keyIndexes[i] < keys.size() ? 0 : limitsOf(request, i).size();
        }
        return count;
    }

    private Map<String, Integer> indexes() {
        Map<String, Integer> known = indexes;
        if (known == null) {
            known = new HashMap<>();
            for (int i = 0; i < keys.size(); i++) {
                known.put((String) keys.get(i), i);
            }
            indexes = known;
        }
        return known;
    }

    /** Returns the group that the request can join: one of equal requests, which is the last one on each of the keys. */
    private @Nullable RequestGroup lastGroup(AcquireRequest request, int[] keyIndexes) {
        if (keys.size() <= keyIndexes[0]) {
            return null;
        }
        RequestGroup group = lastGroups.get(keyIndexes[0]);
        for (int index : keyIndexes) {
            if (index >= keys.size() || lastGroups.get(index) != group) {
                return null;
            }
        }
        return group.size() < MAX_GROUP_SIZE && request.canGroupWith(group.first()) ? group : null;
    }

    private void addGroup(AcquireRequest request, int[] keyIndexes) {
        RequestGroup group = new RequestGroup(request, keyIndexes);
        plain = plain && isPlain(request, keyIndexes);
        groups.add(group);
        latest = group;
        parts += limitCount(request);
        for (int i = 0; i < keyIndexes.length; i++) {
            if (keyIndexes[i] < keys.size()) {
                lastGroups.set(keyIndexes[i], group);
            } else {
                if (indexes != null) {
                    indexes.put(request.keys.get(i), keyIndexes[i]);
                }
                keys.add(request.keys.get(i));
                limits.add(limitsOf(request, i));
                calendarLimit = calendarLimit || haveCalendarLimit(limitsOf(request, i));
                limitCount += limitsOf(request, i).size();
                lastGroups.add(group);
            }
        }
    }

    /** Returns whether no group before has one of the keys of a request, and all of its limits are plain. */
    private boolean isPlain(AcquireRequest request, int[] keyIndexes) {
        for (int i = 0; i < keyIndexes.length; i++) {
            if (keyIndexes[i] < keys.size() || !arePlain(limitsOf(request, i))) {
                return false;
            }
        }
        return keyIndexes.length == 1 || limitCount(request) <= MAX_LIMITS;
    }

    private static boolean arePlain(List<Limit> limits) {
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            if (!(limit instanceof WindowLimit) || limit.uses(Algorithm.SLIDING_LOG)) {
                return false;
            }
        }
        return true;
    }

    private static boolean haveCalendarLimit(List<Limit> limits) {
        for (int i = 0; i < limits.size(); i++) {
            if (limits.get(i) instanceof CalendarLimit) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the bounds of periods are sent. */
    boolean hasCalendarLimit() {
        return calendarLimit;
    }

    /**
     * Returns whether the keys of each group are those that follow the keys of the groups before, no group has several keys with more
     * limits than a batch, and no limit is a sliding log, a calendar limit or a concurrency limit.
     */
    boolean isPlain() {
        return plain;
    }

    /** Returns the number of requests. */
    int size() {
        return requests;
    }

    /** Returns whether the batch is sent although the breaker is open. */
    boolean isProbe() {
        return groups.stream().anyMatch(group -> group.first().operation == AcquireRequest.Operation.PROBE);
    }

    /** Returns the latest deadline of a request, as {@link System#nanoTime}. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Returns the keys of all requests, each once. */
    List<Object> keys() {
        return keys;
    }

    /** Returns the limits of each key. */
    List<List<Limit>> limits() {
        return limits;
    }

    List<RequestGroup> groups() {
        return groups;
    }

    /** Returns the number of limits of all groups. */
    int parts() {
        return parts;
    }

    /** Records the instant at which the batch is sent. */
    void markSent() {
        sentNanos = System.nanoTime();
    }

    /** Completes each request with its part of the reply. */
    void complete(byte[] reply) {
        receivedNanos = System.nanoTime();
        BatchReply decoded = AcquireCodec.decode(this, reply);
        RedisTime time = new RedisTime(decoded.nowMicros(), sentNanos, receivedNanos);
        for (int i = 0; i < groups.size(); i++) {
            RequestGroup group = groups.get(i);
            BatchReply.GroupReply groupReply = decoded.next(group);
            if (groupReply.foreign()) {
                group.fail(foreignState());
            } else {
                group.complete(groupReply, decoded.states(), time);
            }
        }
    }

    /** Returns the time between sending and receiving a batch with a reply, in nanoseconds. */
    long durationNanos() {
        return receivedNanos - sentNanos;
    }

    /** Completes each request with a failure. */
    void fail(BackendException failure) {
        groups.forEach(group -> group.fail(failure));
    }

    /** Returns the failure of a request that concerns a key with a foreign value. */
    static BackendException foreignState() {
        return new BackendException(
                BackendException.Reason.FOREIGN_STATE,
                "A key of the namespace contains a value that is not the state of a limit. The value was not changed.",
                null);
    }
}
