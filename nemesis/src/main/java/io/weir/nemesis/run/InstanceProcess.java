// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The process of an instance, as the coordinator sees it. It can be killed and started again. */
final class InstanceProcess {
    /** A machine that needs more time for a start is slow until Redis allows the first call: attempts to connect can fail on it. */
    private static final Duration SLOW_START = Duration.ofSeconds(5);

    private final int number;
    private final List<String> command;
    private final File log;
    private final Recorder recorder;
    private volatile Life life;

    /**
     * Creates an instance without starting it.
     *
     * @param program the class of the program and its class path
     * @param properties the properties of the limiter
     * @param folder the folder of its log
     * @param recorder receives the operations
     */
    InstanceProcess(int number, Program program, Map<String, String> properties, Path folder, Recorder recorder) {
        this.number = number;
        this.command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                program.classPath(),
                program.type().getName()));
        properties.forEach((name, value) -> command.add(name + "=" + value));
        this.log = folder.resolve("instance-" + number + ".log").toFile();
        this.recorder = recorder;
    }

    /**
     * The program of an instance.
     *
     * @param type the main class
     * @param classPath the class path
     */
    record Program(Class<?> type, String classPath) {}

    /** Starts the process and waits until it accepts operations. */
    void start() {
        long start = System.nanoTime();
        try {
            life = new Life(new ProcessBuilder(command)
                    .redirectError(Redirect.appendTo(log))
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        life.ready.orTimeout(5, TimeUnit.MINUTES).join();
        if (System.nanoTime() - start > SLOW_START.toNanos()) {
            life.slowSince.set(start);
        }
    }

    /** Runs an operation and waits for its end. */
    Operation run(Kind kind, String policy, String key, long amount, long call) {
        return start(kind, policy, key, amount, call).join();
    }

    /** Starts an operation. */
    CompletableFuture<Operation> start(Kind kind, String policy, String key, long amount, long call) {
        long id = recorder.next();
        Life current = life;
        CompletableFuture<Operation> operation = current.expect(id, kind, policy, key, amount, call);
        current.ask(id, kind.name(), policy, key, amount, call);
        return operation;
    }

    /** Runs an acquire under two policies with different keys, which is recorded as two operations, and returns the second one. */
    Operation run(List<String> policies, List<String> keys, long cost) {
        long first = recorder.next();
        long second = recorder.next();
        Life current = life;
        List<CompletableFuture<Operation>> parts = List.of(
                current.expect(first, Kind.ACQUIRE, policies.get(0), keys.get(0), cost, second),
                current.expect(second, Kind.ACQUIRE, policies.get(1), keys.get(1), cost, first));
        current.ask(
                first,
                Kind.ACQUIRE.name(),
                String.join(Calls.AND, policies),
                String.join(Calls.AND, keys),
                cost,
                second);
        parts.get(0).join();
        return parts.get(1).join();
    }

    /** Steps the wall clock of the instance. */
    void clock(long millis) {
        life.send("clock " + millis);
    }

    /** Sends a signal, unless the process has ended. */
    void signal(String signal) {
        if (!life.process.isAlive()) {
            return;
        }
        try {
            new ProcessBuilder("kill", signal, String.valueOf(life.process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Kills the process and waits until all of its operations are lost. */
    void kill() {
        if (life != null) {
            life.process.destroyForcibly();
            life.gone.join();
        }
    }

    private record Reply(Outcome outcome, long value, long took, long stalled, long end) {
        static final Reply NONE = new Reply(Outcome.LOST, 0, 0, 0, Operation.NEVER);
    }

    /** One process. */
    private final class Life {
        final Process process;
        final CompletableFuture<Void> ready = new CompletableFuture<>();
        final CompletableFuture<Void> gone = new CompletableFuture<>();
        final Map<Long, CompletableFuture<Reply>> pending = new ConcurrentHashMap<>();
        private final PrintStream requests;
        final AtomicLong slowSince = new AtomicLong();
        volatile boolean ended;

        Life(Process process) {
            this.process = process;
            this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            Thread thread = new Thread(this::read, "instance-" + number);
            thread.setDaemon(true);
            thread.start();
        }

        /** Awaits the reply to an operation, and records both. */
        CompletableFuture<Operation> expect(long id, Kind kind, String policy, String key, long amount, long call) {
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            pending.put(id, reply);
            long start = System.nanoTime();
            return reply.thenApply(result -> {
                Operation operation = new Operation(
                        id,
                        number,
                        kind,
                        policy,
                        key,
                        amount,
                        call,
                        start,
                        result.end(),
                        result.outcome(),
                        result.value(),
                        result.took(),
                        result.stalled());
                recorder.add(operation);
                return operation;
            });
        }

        /** Sends an operation, unless the process has ended. */
        void ask(long id, String kind, String policy, String key, long amount, long call) {
            if (ended) {
                pending.values().forEach(reply -> reply.complete(Reply.NONE));
            } else {
                send(String.join(
                        " ", Long.toString(id), kind, policy, key, Long.toString(amount), Long.toString(call)));
            }
        }

        void send(String line) {
            synchronized (requests) {
                requests.println(line);
            }
        }

        private void read() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    accept(line.split(" "), System.nanoTime());
                }
            } catch (IOException e) {
                // the process has ended
            } finally {
                ended = true;
                ready.completeExceptionally(new IllegalStateException("instance " + number + " ended, see " + log));
                pending.values().forEach(reply -> reply.complete(Reply.NONE));
                gone.complete(null);
            }
        }

        private void accept(String[] words, long end) {
            switch (words[0]) {
                case "ready" -> ready.complete(null);
                case "=" -> {
                    Outcome outcome = Outcome.valueOf(words[2]);
                    long slow = outcome == Outcome.ALLOWED ? slowSince.getAndSet(0) : 0;
                    if (slow != 0) {
                        recorder.slowStart(number, new Span(slow, end));
                    }
                    pending.remove(Long.parseLong(words[1]))
                            .complete(new Reply(
                                    outcome,
                                    Long.parseLong(words[3]),
                                    Long.parseLong(words[4]),
                                    Long.parseLong(words[5]),
                                    end));
                }
                case "!" -> event(words);
                case "~" -> recorder.slow(number, new Span(Long.parseLong(words[1]), Long.parseLong(words[2])));
                default -> throw new IllegalArgumentException(words[0]);
            }
        }

        /** Records an event, which has the time of the instance: all processes have the same monotonic clock. */
        private void event(String... words) {
            long at = Long.parseLong(words[6]);
            recorder.add(new Operation(
                    recorder.next(),
                    number,
                    Kind.valueOf(words[1]),
                    words[2],
                    words[3],
                    Long.parseLong(words[4]),
                    0,
                    at,
                    at,
                    Outcome.DONE,
                    Long.parseLong(words[5]),
                    0,
                    0));
        }
    }
}
