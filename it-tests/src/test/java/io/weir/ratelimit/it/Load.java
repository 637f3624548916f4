// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A load generator that sends requests at a steady rate over persistent connections. Each thread waits for its response, so a slow server
 * receives fewer requests. The requests rotate over the clients and the paths.
 */
final class Load implements AutoCloseable {
    /**
     * A request and its result.
     *
     * @param atNanos the start, as {@link System#nanoTime}
     * @param nanos the duration in nanoseconds
     * @param path the index of the path
     * @param client the index of the client
     * @param status the status of the response; 0 without a response
     */
    record Request(long atNanos, long nanos, int path, int client, int status) {}

    private final URI server;
    private final List<String> paths;
    private final int clients;
    private final long intervalNanos;
    private final long start = System.nanoTime();
    private final AtomicLong next = new AtomicLong();
    private final List<List<Request>> done = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean over;

    private Load(URI server, int perSecond, int clients, List<String> paths) {
        this.server = server;
        this.paths = paths;
        this.clients = clients;
        this.intervalNanos = Duration.ofSeconds(1).toNanos() / perSecond;
    }

    static Load on(URI server, int perSecond, int threads, int clients, String... paths) {
        Load load = new Load(server, perSecond, clients, List.of(paths));
        for (int i = 0; i < threads; i++) {
            List<Request> requests = new ArrayList<>();
            load.done.add(requests);
            Thread thread = new Thread(() -> load.run(requests), "load-" + i);
            thread.setDaemon(true);
            load.threads.add(thread);
        }
        load.threads.forEach(Thread::start);
        return load;
    }

    private void run(List<Request> requests) {
        try (PersistentConnection connection = new PersistentConnection(server)) {
            while (!over) {
                long number = next.getAndIncrement();
                long due = start + number * intervalNanos;
                for (long wait = due - System.nanoTime(); wait > 0 && !over; wait = due - System.nanoTime()) {
                    LockSupport.parkNanos(wait);
                }
                int path = (int) (number % paths.size());
                int client = (int) (number / paths.size() % clients);
                long sent = System.nanoTime();
                int status;
                try {
                    status = connection.get(paths.get(path), "client-" + client);
                } catch (IOException e) {
                    status = 0;
                }
                requests.add(new Request(sent, System.nanoTime() - sent, path, client, status));
            }
        }
    }

    /** Ends the load and returns all requests. */
    List<Request> end() {
        close();
        return done.stream().flatMap(List::stream).toList();
    }

    @Override
    public void close() {
        over = true;
        for (Thread thread : threads) {
            try {
                thread.join(Duration.ofSeconds(30).toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while load ended", e);
            }
            if (thread.isAlive()) {
                throw new IllegalStateException(thread.getName() + " hangs: "
                        + Stream.of(thread.getStackTrace()).limit(5).toList());
            }
        }
    }
}
