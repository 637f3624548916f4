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

/** A pattern of concurrent decisions. */
sealed interface LoadPattern {
    /** Returns the name on the command line and in the tables. */
    String name();

    /** Starts decisions while a condition is true, and waits for the last result. */
    void run(MeasuredContender contender, BooleanSupplier more);

    /**
     * Threads that wait for each result.
     *
     * @param count the number of threads
     */
    record Threads(int count) implements LoadPattern {
        @Override
        public String name() {
            return String.valueOf(count);
        }

        @Override
        public void run(MeasuredContender contender, BooleanSupplier more) {
            Workers.run(count, () -> {
                while (more.getAsBoolean()) {
                    contender.decide();
                }
                return null;
            });
        }
    }

    /**
     * A constant number of concurrent asynchronous decisions, which two threads start.
     *
     * @param count the number of decisions
     */
    record Asynchronous(int count) implements LoadPattern {
        private static final int STARTERS = 2;

        @Override
        public String name() {
            return "async-" + count;
        }

        @Override
        public void run(MeasuredContender contender, BooleanSupplier more) {
            Workers.run(STARTERS, () -> {
                int share = count / STARTERS;
                Semaphore free = new Semaphore(share);
                while (more.getAsBoolean()) {
                    free.acquire();
                    for (int i = free.drainPermits(); i >= 0; i--) {
                        contender.decideAsync(free::release);
                    }
                }
                free.acquire(share);
                return null;
            });
        }
    }

    /** A pool of threads. */
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
