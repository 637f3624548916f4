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
 * Requests at a steady rate over connections that are kept, from a few threads each of which waits for its answer: a server that
 * cannot keep up gets fewer. Each request is of one of some clients, in turn, for one of some paths.
 */
final class Load implements AutoCloseable {
    /**
     * How one request went.
     *
     * @param atNanos when it was sent, of {@link System#nanoTime}
     * @param nanos how long it took
     * @param path which of the paths
     * @param client which of the clients
     * @param status of the answer; 0 if there was none
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
        try (KeptConnection connection = new KeptConnection(server)) {
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

    /** Ends it, and tells of all requests. */
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
