// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.LogCapture;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class TaskTimerTest {
    private final List<CompletableFuture<Void>> timers = new ArrayList<>();
    private final Deque<Runnable> executor = new ArrayDeque<>();
    private final List<ClassLoader> runs = new ArrayList<>();
    private final ClassLoader application = new URLClassLoader(new URL[0]);
    private boolean fails;
    private final TaskTimer timer = new TaskTimer(
            new Sleeper() {
                @Override
                public long nanos() {
                    return 0;
                }

                @Override
                public CompletableFuture<Void> timer(long micros) {
                    assertThat(micros).isEqualTo(5_000_000 + runs.size());
                    CompletableFuture<Void> due = new CompletableFuture<>();
                    timers.add(due);
                    return due;
                }
            },
            () -> 5_000_000 + runs.size(),
            () -> {
                runs.add(Thread.currentThread().getContextClassLoader());
                if (fails) {
                    throw new IllegalStateException("no result");
                }
            });

    private void completeInterval() {
        timers.get(timers.size() - 1).complete(null);
    }

    @Test
    void runsOncePerIntervalWithTheClassLoaderOfTheApplication() {
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        timer.start(executor::add, application);
        timer.start(executor::add, application);
        assertThat(timers).as("several starts create one timer").hasSize(1);
        completeInterval();
        assertThat(runs).isEmpty();
        executor.remove().run();
        completeInterval();
        executor.remove().run();
        assertThat(runs).containsExactly(application, application);
        assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(own);
    }

    @Test
    void aLongRunDelaysTheNextOne() {
        timer.start(executor::add, application);
        completeInterval();
        assertThat(timers).as("the next interval begins after the run").hasSize(1);
        executor.remove().run();
        assertThat(timers).hasSize(2);
    }

    @Test
    void aTaskThatFailsIsLoggedOnceAndRepeated() {
        try (LogCapture log = new LogCapture()) {
            timer.start(executor::add, application);
            for (boolean failing : new boolean[] {true, true, false, true}) {
                fails = failing;
                completeInterval();
                executor.remove().run();
            }
            assertThat(runs).hasSize(4);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-432"))
                    .as("one until a run succeeds")
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line).startsWith("WARNING"));
        }
    }

    @Test
    void stopCancelsTheTimer() {
        timer.start(executor::add, application);
        timer.stop();
        assertThat(timers.get(0)).isCancelled();
        assertThat(timers).hasSize(1);
        timer.start(executor::add, application);
        assertThat(timers).hasSize(1);
    }

    @Test
    void aRunDuringStopIsTheLast() {
        timer.start(executor::add, application);
        completeInterval();
        timer.stop();
        executor.remove().run();
        assertThat(timers).hasSize(1);
    }

    @Test
    void aFullExecutorSkipsARun() {
        timer.start(
                task -> {
                    throw new RejectedExecutionException("full");
                },
                application);
        completeInterval();
        assertThat(timers).hasSize(2);
    }
}
