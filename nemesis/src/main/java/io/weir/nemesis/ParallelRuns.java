// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.history.History;
import io.weir.nemesis.history.HistoryFile;
import io.weir.nemesis.run.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Executes runs, some of them at the same time. */
final class ParallelRuns {
    static final String HISTORY = "history.txt";

    /** The start of an instance needs a whole processor for this time. */
    private static final long SECONDS_OF_START = 20;

    private final int limit;
    private final Path folder;
    private final Consumer<String> printer;
    private boolean hasFailed;

    /**
     * Creates the runs without starting them.
     *
     * @param limit the most runs at the same time, 1 at least
     * @param folder the folder of histories and logs
     */
    ParallelRuns(int limit, Path folder, Consumer<String> printer) {
        this.limit = limit;
        this.folder = folder;
        this.printer = printer;
    }

    /**
     * Executes all runs, and returns whether all have ended and their reports hold.
     *
     * @param report receives one history after the other
     */
    boolean run(List<Run> runs, Predicate<History> report) throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(limit);
        List<Future<Boolean>> results = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            int number = i;
            results.add(threads.submit(() -> {
                if (number < limit) {
                    TimeUnit.SECONDS.sleep(number * SECONDS_OF_START);
                }
                print(String.format(
                        "%tT: run %d of %d, seed %d, with %s",
                        LocalTime.now(),
                        number + 1,
                        runs.size(),
                        runs.get(number).seed(),
                        String.join(", ", runs.get(number).troubles())));
                History history = execute(runs.get(number));
                synchronized (this) {
                    return report.test(history);
                }
            }));
        }
        threads.shutdown();
        boolean holds = true;
        for (int i = 0; i < results.size(); i++) {
            holds &= result(results.get(i), runs.get(i));
        }
        return holds;
    }

    /** Returns whether a run has ended and its report holds. The other runs go on without it. */
    private boolean result(Future<Boolean> result, Run run) throws IOException {
        try {
            return result.get();
        } catch (ExecutionException e) {
            e.printStackTrace();
            print("FAILED: seed " + run.seed() + " with " + String.join(", ", run.troubles()) + ": " + e.getCause());
            hasFailed = true;
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Returns whether a run has ended without a history. */
    boolean hasFailed() {
        return hasFailed;
    }

    private synchronized void print(String line) {
        printer.accept(line);
    }

    private History execute(Run run) throws IOException {
        String name = run.troubles().isEmpty() ? "none" : run.troubles().get(0);
        Path of = Files.createDirectories(folder.resolve("seed-" + run.seed() + "-" + name));
        History history = run.execute(of);
        HistoryFile.write(history, of.resolve(HISTORY));
        return history;
    }
}
