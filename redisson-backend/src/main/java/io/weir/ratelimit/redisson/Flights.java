// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Combines checks that arrive while calls are on their way to Redis: they leave together, as one script call, as soon as one of those
 * has come back.
 *
 * <p>Most of what a decision costs is not the decision: it is a system call at each end, a wake-up, and Redis's reading and writing of
 * a connection. All of that is paid per call. So a few calls are in the air at a time, and whoever comes meanwhile waits for the next
 * one, which costs hardly more for being full. Nobody waits for a timer: a lone check finds nothing in the air and leaves at once, and
 * the busier it gets, the fuller the flights are. That needs no knob that could be wrong for the load.
 *
 * <p>What must not change by it, and how it is kept:
 *
 * <ul>
 *   <li>Each check is decided on its own. The script goes through them in order of arrival, on the states that the ones before have
 *       left, so a flight answers exactly as its checks would one by one. A key with something foreign in it fails the checks that
 *       name it; a call that fails as a whole fails its own passengers and no others.
 *   <li>A permit is never spent for a caller who has given up before his flight left: he is taken off the queue, and a check whose
 *       deadline has passed does not board. Once in the air, a late reply is dropped and what it spent stays spent.
 *   <li>A call that does not come back must not keep the others on the ground. When the first of its passengers gives up, its place
 *       in the air is free again, so a connection that is stuck delays the others by one deadline at most.
 *   <li>The queue is bounded in keys, which is what memory and Redis's time are spent on. Whoever finds it full is told so at once.
 *   <li>A script call must stay in one slot of a cluster, so there is a lane per slot. Without a cluster there is one.
 * </ul>
 *
 * <p>A lane's lock is held while a flight is filled, and never while sending or answering.
 */
final class Flights {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** More calls in the air mean less waiting on an idle Redis and emptier flights on a busy one. */
    private static final int MOST_IN_THE_AIR = 2;

    private static final int MOST_KEYS_WAITING = 8_192;

    /** Sends a flight to Redis. */
    interface Sender {
        CompletableFuture<byte[]> send(Flight flight);
    }

    /** The checks of one slot. */
    static final class Lane {
        private final ReentrantLock lock = new ReentrantLock();
        private final ArrayDeque<Check> waiting = new ArrayDeque<>();
        private int keysWaiting;
        private int gone;
        private int inTheAir;
    }

    private final Sender sender;
    private final BackendListener listener;
    private final Breaker breaker;
    private final ConcurrentHashMap<Integer, Lane> lanes = new ConcurrentHashMap<>();
    private final Lane onlyLane = new Lane();

    /** Keys that wait in all lanes: what the bound is about. */
    private final AtomicInteger keysWaiting = new AtomicInteger();

    /** Whether it was said that the listener fails: once is enough. */
    private final AtomicBoolean deaf = new AtomicBoolean();

    Flights(Sender sender, BackendListener listener, Breaker breaker) {
        this.sender = sender;
        this.listener = listener;
        this.breaker = breaker;
    }

    /** Sends a check, now or with the next flight of its slot; -1 stands for a store without slots. */
    void board(Check check, int slot) {
        Lane lane = slot < 0 ? onlyLane : lanes.computeIfAbsent(slot, any -> new Lane());
        Flight flight = null;
        lane.lock.lock();
        try {
            check.lane = lane;
            if (lane.inTheAir < MOST_IN_THE_AIR && lane.keysWaiting == 0) {
                flight = new Flight(check);
                check.flight = flight;
                lane.inTheAir++;
            } else if (keysWaiting.get() + check.size <= MOST_KEYS_WAITING) {
                lane.waiting.add(check);
                waits(lane, check.size);
                return;
            }
        } finally {
            lane.lock.unlock();
        }
        if (flight == null) {
            check.completeExceptionally(
                    new BackendException(Reason.FULL, "too many decisions wait for Redis already", null));
        } else {
            depart(lane, flight);
        }
    }

    /**
     * Takes a check whose caller waits no longer off the queue. If its flight is in the air, another may leave in its place: it is
     * late, and may never come back.
     */
    void giveUp(Check check) {
        Lane lane = check.lane;
        if (lane == null) {
            return;
        }
        Flight next = null;
        boolean late = false;
        lane.lock.lock();
        try {
            Flight left = check.flight;
            if (left != null) {
                late = !left.over && check.deadlineNanos - System.nanoTime() <= 0;
                left.late |= late;
                next = nextAfter(lane, left);
                return;
            }
            if (!check.gone) {
                check.gone = true;
                waits(lane, -check.size);
                lane.gone++;
                if (lane.gone > lane.waiting.size() / 2) {
                    lane.waiting.removeIf(waiting -> waiting.gone);
                    lane.gone = 0;
                }
            }
        } finally {
            lane.lock.unlock();
            if (late) {
                breaker.landed(new BackendException(Reason.TIMEOUT, "no answer in time", null));
            }
            depart(lane, next);
        }
        check.completeExceptionally(new BackendException(Reason.TIMEOUT, "it was not sent", null));
    }

    /** Sends a flight, and those that can leave when it has failed at once. */
    private void depart(Lane lane, @Nullable Flight first) {
        Flight next = first;
        while (next != null) {
            Flight flight = next;
            next = null;
            tell(flight.checks(), keysWaiting.get());
            CompletableFuture<byte[]> reply = send(flight);
            if (reply.isDone()) {
                next = nextAfter(lane, flight);
                settle(flight, reply);
            } else {
                CompletionStage<byte[]> landing = reply;
                landing.whenComplete((bytes, failure) -> {
                    try {
                        depart(lane, nextAfter(lane, flight));
                    } finally {
                        settle(flight, reply);
                    }
                });
            }
        }
    }

    /** Whatever a listener does, the flight leaves. */
    private void tell(int checks, int keysWaiting) {
        try {
            listener.onFlight(checks, keysWaiting);
        } catch (RuntimeException | LinkageError e) {
            if (deaf.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "WEIR-413 who listens to calls to Redis failed; decisions do not depend on it",
                        e);
            }
        }
    }

    /** What waited while the breaker opened does not go to Redis either. */
    private CompletableFuture<byte[]> send(Flight flight) {
        try {
            if (breaker.keepsBack() && !flight.isProbe()) {
                return CompletableFuture.failedFuture(breaker.denied());
            }
            return sender.send(flight);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** A flight that somebody gave up has failed once already, whatever comes of it later. */
    private void settle(Flight flight, CompletableFuture<byte[]> reply) {
        BackendException failure = null;
        try {
            flight.landed(reply.join());
        } catch (RuntimeException e) {
            failure = RedisClient.failure(e);
        }
        if (!flight.late) {
            breaker.landed(failure);
        }
        if (failure != null) {
            flight.failed(failure);
        }
    }

    private void waits(Lane lane, int keys) {
        lane.keysWaiting += keys;
        keysWaiting.addAndGet(keys);
    }

    /** Frees the place of a flight, if that has not happened, and fills the next one. */
    private @Nullable Flight nextAfter(Lane lane, Flight landed) {
        lane.lock.lock();
        try {
            if (landed.over) {
                return null;
            }
            landed.over = true;
            lane.inTheAir--;
            return filled(lane);
        } finally {
            lane.lock.unlock();
        }
    }

    private @Nullable Flight filled(Lane lane) {
        Flight flight = null;
        long now = System.nanoTime();
        for (Check check = lane.waiting.peek(); check != null; check = lane.waiting.peek()) {
            if (!check.gone && check.deadlineNanos - now > 0) {
                if (flight == null) {
                    flight = new Flight(check);
                    lane.inTheAir++;
                } else if (!flight.board(check)) {
                    break;
                }
                check.flight = flight;
            }
            lane.waiting.remove();
            if (check.gone) {
                lane.gone--;
            } else {
                waits(lane, -check.size);
                check.gone = true;
            }
        }
        return flight;
    }
}
