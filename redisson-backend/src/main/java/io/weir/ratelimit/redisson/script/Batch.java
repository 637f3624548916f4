// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one script call. The script decides on each of them by itself, in order of arrival. Equal requests form one group if
 * no request between them concerns one of their keys. Not thread-safe.
 */
public final class Batch {
    /** 64 keys with one limit each block Redis for about 0.15 ms, 256 keys for 0.5 ms. */
    private static final int MAX_LIMITS = 256;

    private static final int MAX_GROUP_SIZE = 65_533;

    /** The keys of each group, one group after the other. */
    private final List<Object> keys = new ArrayList<>();

    private final List<RequestGroup> groups = new ArrayList<>();

    /** For each key the last group that concerns it; null until a second group needs it. */
    private @Nullable Map<String, RequestGroup> lastGroups;

    /** The number of limits of all groups. */
    private int limitCount;

    private boolean calendarLimit;

    /** The group of the latest request, which therefore is the last one on each of its keys; null without requests. */
    private @Nullable RequestGroup latest;

    private int requests;
    private long deadlineNanos;
    private long sentNanos;
    private long receivedNanos;

    /** The instant at which the queue has taken the batch out, on the clock of the queue. Guarded by the lock of the queue. */
    long takenNanos;

    /** Whether a request timed out while the batch was in flight. Guarded by the lock of the queue. */
    public boolean timedOut;

    public Batch(AcquireRequest first) {
        add(first);
    }

    /** Adds a request. Returns false if the batch is full. */
    public boolean add(AcquireRequest request) {
        boolean added = addToGroup(latest, request) || addToGroup(lastGroup(request), request) || addGroup(request);
        if (added) {
            deadlineNanos =
                    requests == 0 || request.deadlineNanos - deadlineNanos > 0 ? request.deadlineNanos : deadlineNanos;
            requests++;
        }
        return added;
    }

    /** Adds a request to a group that is the last one on each of its keys. Most requests of a hot key join the latest group. */
    private boolean addToGroup(@Nullable RequestGroup group, AcquireRequest request) {
        if (group == null || group.size() == MAX_GROUP_SIZE || !request.canGroupWith(group.first())) {
            return false;
        }
        group.add(request);
        latest = group;
        return true;
    }

    /** Returns the group that is the last one on each of the keys of a request, null if there is none. */
    private @Nullable RequestGroup lastGroup(AcquireRequest request) {
        if (groups.isEmpty()) {
            return null;
        }
        RequestGroup group = lastGroups().get(request.keys.get(0));
        for (int i = 1; group != null && i < request.keys.size(); i++) {
            group = lastGroups().get(request.keys.get(i)) == group ? group : null;
        }
        return group;
    }

    private Map<String, RequestGroup> lastGroups() {
        Map<String, RequestGroup> known = lastGroups;
        if (known == null) {
            known = new HashMap<>();
            for (String key : groups.get(0).first().keys) {
                known.put(key, groups.get(0));
            }
            lastGroups = known;
        }
        return known;
    }

    private boolean addGroup(AcquireRequest request) {
        int limits = limitCount(request);
        if (limitCount + limits > MAX_LIMITS && !groups.isEmpty()) {
            return false;
        }
        RequestGroup group = new RequestGroup(request);
        groups.add(group);
        latest = group;
        limitCount += limits;
        for (int i = 0; i < request.keys.size(); i++) {
            if (lastGroups != null) {
                lastGroups.put(request.keys.get(i), group);
            }
            keys.add(request.keys.get(i));
            calendarLimit = calendarLimit
                    || haveCalendarLimit(request.charges.get(i).policy().limits());
        }
        return true;
    }

    private static int limitCount(AcquireRequest request) {
        int count = 0;
        for (int i = 0; i < request.charges.size(); i++) {
            count += request.charges.get(i).policy().limits().size();
        }
        return count;
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
    public boolean hasCalendarLimit() {
        return calendarLimit;
    }

    /** Returns the number of requests. */
    public int size() {
        return requests;
    }

    /** Returns whether the batch is sent although the breaker is open. */
    public boolean isProbe() {
        return groups.stream().anyMatch(group -> group.first().operation == AcquireRequest.Operation.PROBE);
    }

    /** Returns the latest deadline of a request, as {@link System#nanoTime}. */
    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** Returns the keys of each group, one group after the other. */
    public List<Object> keys() {
        return keys;
    }

    public List<RequestGroup> groups() {
        return groups;
    }

    /** Records the instant at which the batch is sent. */
    public void markSent() {
        sentNanos = System.nanoTime();
    }

    /** Completes each request with its part of the reply. */
    public void complete(byte[] reply) {
        receivedNanos = System.nanoTime();
        BatchReply decoded = AcquireCodec.decode(reply);
        RedisTime time = new RedisTime(decoded.nowMicros(), sentNanos, receivedNanos);
        for (int i = 0; i < groups.size(); i++) {
            RequestGroup group = groups.get(i);
            BatchReply.GroupReply groupReply = decoded.next(group);
            if (groupReply.foreign()) {
                group.fail(foreignState());
            } else {
                group.complete(groupReply, time);
            }
        }
    }

    /** Returns the time between sending and receiving a batch with a reply, in nanoseconds. */
    public long durationNanos() {
        return receivedNanos - sentNanos;
    }

    /** Completes each request with a failure. */
    public void fail(BackendException failure) {
        groups.forEach(group -> group.fail(failure));
    }

    /** Returns the failure of a request that concerns a key with a foreign value. */
    public static BackendException foreignState() {
        return new BackendException(
                BackendException.Reason.FOREIGN_STATE,
                "A key of the namespace contains a value that is not the state of a limit. The value was not changed.",
                null);
    }
}
