// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.netty.util.Timeout;
import io.weir.ratelimit.redisson.script.BatchQueue;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.WriteRedisConnectionException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.CommandsData;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.connection.MasterSlaveEntry;
import org.redisson.connection.ServiceManager;

/**
 * The writes to one master of a cluster. Script calls of different slots that arrive while writes are in flight leave together, in one
 * write on one connection, as soon as one of those writes is answered. Each call has its own reply: an error concerns this call alone.
 *
 * <p>Without a reply, a write makes way for the next one at the latest deadline of its calls. Its connection is used again once the reply
 * has come, or the time-out of the client has passed.
 */
final class MasterWrites {
    /** With one write in flight, Redis would be idle between a reply and the next write. */
    private static final int MAX_IN_FLIGHT = 2;

    /** The calls of one write. Redis serves no other connection meanwhile: they take it about a millisecond. */
    private static final int MAX_CALLS = 128;

    /** How long the client waits for a reply that comes after the deadline. */
    private static final long BEYOND_DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final RedisCommand<Object> EVALSHA = new RedisCommand<>("EVALSHA");

    private final MasterSlaveEntry master;
    private final ServiceManager services;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<QueuedCall> waiting = new ArrayDeque<>();
    private int waitingKeys;
    private int inFlight;

    /** Some calls, and a future that completes when all of them are. */
    private static final class Write extends CompletableFuture<Void> {
        final List<QueuedCall> calls = new ArrayList<>();

        /** Whether another write may take its place. Guarded by the lock of the master. */
        boolean released;

        long deadlineNanos() {
            long latest = calls.get(0).deadlineNanos();
            for (QueuedCall call : calls) {
                latest = call.deadlineNanos() - latest > 0 ? call.deadlineNanos() : latest;
            }
            return latest;
        }
    }

    MasterWrites(MasterSlaveEntry master, ServiceManager services) {
        this.master = master;
        this.services = services;
    }

    /** Sends a call, at once or with the next write. */
    void send(QueuedCall call) {
        Write write = null;
        boolean full;
        lock.lock();
        try {
            full = waitingKeys + call.keyCount() > BatchQueue.MAX_WAITING_KEYS && !waiting.isEmpty();
            if (!full) {
                waiting.add(call);
                waitingKeys += call.keyCount();
                write = next();
            }
        } finally {
            lock.unlock();
        }
        if (full) {
            call.completeExceptionally(new BackendException(
                    Reason.FULL, "Too many requests wait for Redis. The request was not sent.", null));
        }
        start(write);
    }

    /** Takes the calls of the next write, if there is a place for it. */
    private @Nullable Write next() {
        if (inFlight == MAX_IN_FLIGHT || waiting.isEmpty()) {
            return null;
        }
        Write write = new Write();
        for (int i = 0; i < MAX_CALLS && !waiting.isEmpty(); i++) {
            QueuedCall call = waiting.remove();
            waitingKeys -= call.keyCount();
            write.calls.add(call);
        }
        inFlight++;
        return write;
    }

    private void start(@Nullable Write write) {
        if (write == null) {
            return;
        }
        CompletionStage<Void> done = write;
        done.whenComplete((replies, failure) -> end(write, failure));
        services.addFuture(write);
        long left = write.deadlineNanos() - System.nanoTime();
        Timeout timeout = services.newTimeout(timer -> expire(write), Math.max(0, left), TimeUnit.NANOSECONDS);
        // A timer that is not cancelled would keep the calls in memory until the deadline.
        done.whenComplete((replies, failure) -> timeout.cancel());
        try {
            CompletionStage<RedisConnection> acquired = master.connectionWriteOp(EVALSHA);
            acquired.whenComplete((connection, failure) -> {
                if (connection == null) {
                    write.completeExceptionally(failure);
                } else {
                    send(write, connection);
                }
            });
        } catch (RuntimeException e) {
            write.completeExceptionally(e);
        }
    }

    private void send(Write write, RedisConnection connection) {
        CompletionStage<Void> done = write;
        done.whenComplete((replies, failure) -> master.releaseWrite(connection));
        long now = System.nanoTime();
        List<CommandData<?, ?>> commands = new ArrayList<>(write.calls.size());
        for (QueuedCall call : write.calls) {
            if (call.deadlineNanos() - now > 0) {
                commands.add(new CommandData<>(call, ByteArrayCodec.INSTANCE, EVALSHA, call.arguments()));
            } else {
                call.completeExceptionally(
                        new BackendException(Reason.TIMEOUT, "The request was not sent before its deadline.", null));
            }
        }
        if (commands.isEmpty() || write.isDone()) {
            write.complete(null);
            return;
        }
        connection.send(new CommandsData(write, commands, false, false)).addListener(written -> {
            if (!written.isSuccess()) {
                write.completeExceptionally(
                        new WriteRedisConnectionException("The calls were not written.", written.cause()));
            }
        });
    }

    /** Makes way for the next write at the deadline, and ends the write some time later. */
    private void expire(Write write) {
        if (!write.isDone()) {
            start(release(write));
            services.newTimeout(
                    timer -> write.completeExceptionally(new RedisTimeoutException("Redis did not reply.")),
                    BEYOND_DEADLINE_NANOS,
                    TimeUnit.NANOSECONDS);
        }
    }

    /** Fails the calls without a reply, and starts the next write. */
    private void end(Write write, @Nullable Throwable failure) {
        Write next = release(write);
        for (QueuedCall call : write.calls) {
            if (failure != null && !call.isDone()) {
                call.completeExceptionally(failure);
            }
        }
        start(next);
    }

    /** Releases the place of a write, unless that has happened before, and takes the next one. */
    private @Nullable Write release(Write write) {
        lock.lock();
        try {
            if (write.released) {
                return null;
            }
            write.released = true;
            inFlight--;
            return next();
        } finally {
            lock.unlock();
        }
    }
}
