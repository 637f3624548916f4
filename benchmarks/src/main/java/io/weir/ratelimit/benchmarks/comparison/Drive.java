// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

/** How decisions are asked for. */
sealed interface Drive {
    /** Its name on the command line and in the tables. */
    String name();

    /** Asks for decisions as long as there are to be more, and waits for the last answer. */
    void run(Entrant entrant, BooleanSupplier more);

    /**
     * Threads, each of which waits for its answer.
     *
     * @param count how many
     */
    record Threads(int count) implements Drive {
        @Override
        public String name() {
            return String.valueOf(count);
        }

        @Override
        public void run(Entrant entrant, BooleanSupplier more) {
            Workers.run(count, () -> {
                while (more.getAsBoolean()) {
                    entrant.decide();
                }
                return null;
            });
        }
    }

    /**
     * Decisions in flight, which two threads keep at their number.
     *
     * @param count how many
     */
    record InFlight(int count) implements Drive {
        private static final int DRIVERS = 2;

        @Override
        public String name() {
            return "async-" + count;
        }

        @Override
        public void run(Entrant entrant, BooleanSupplier more) {
            Workers.run(DRIVERS, () -> {
                int share = count / DRIVERS;
                Semaphore free = new Semaphore(share);
                while (more.getAsBoolean()) {
                    free.acquire();
                    for (int i = free.drainPermits(); i >= 0; i--) {
                        entrant.decideAsync(free::release);
                    }
                }
                free.acquire(share);
                return null;
            });
        }
    }

    /** The threads, which are kept. */
    final class Workers {
        private static final ExecutorService POOL = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            return thread;
        });

        private Workers() {}

        private static void run(int count, Callable<Void> task) {
            List<Callable<Void>> tasks = Collections.nCopies(count, task);
            try {
                for (Future<Void> done : POOL.invokeAll(tasks)) {
                    done.get();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            }
        }
    }
}
