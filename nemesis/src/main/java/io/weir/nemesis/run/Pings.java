// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.History.Span;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The times in which Redis waits for a processor: an answer to a call that is not through a proxy takes a large part of the deadline. A fault
 * of Redis interrupts the calls.
 */
final class Pings {
    private static final long BETWEEN_MILLIS = 20;

    /** A call with such an answer and its way through a proxy to a busy instance needs the deadline. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Servers servers;
    private final AtomicInteger faults = new AtomicInteger();

    /** Used by one thread. */
    private final Map<RedisProcess, RedisConnection> connections = new HashMap<>();

    Pings(Servers servers) {
        this.servers = servers;
    }

    /** Begins a fault, in which Redis does not answer. */
    void beginFault() {
        faults.incrementAndGet();
    }

    /** Ends a fault. */
    void endFault() {
        faults.decrementAndGet();
    }

    /**
     * Starts a thread that sends the calls.
     *
     * @param slow receives the time of each long call
     */
    void start(Consumer<Span> slow) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) {
                            TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS);
                            send(slow);
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "pings");
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits for an answer of each master, unless Redis has a fault. */
    void send(Consumer<Span> slow) {
        if (faults.get() > 0) {
            return;
        }
        for (RedisProcess master : servers.masters()) {
            long start = System.nanoTime();
            try {
                connections.computeIfAbsent(master, RedisProcess::connect).call("PING");
            } catch (UncheckedIOException | IllegalStateException e) {
                // A fault has closed the connection.
                connections.remove(master);
            }
            long end = System.nanoTime();
            if (end - start > LONG_NANOS) {
                slow.accept(new Span(start, end));
            }
        }
    }
}
