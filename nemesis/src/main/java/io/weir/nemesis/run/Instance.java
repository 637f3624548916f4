// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.redisson.RedissonBackendProvider;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The program of an instance: a limiter without a container that runs the operations of its standard input, each on a thread of its own, and
 * prints the results. It ends with its input.
 */
public final class Instance {
    private final PrintStream out;
    private final Stalls stalls = new Stalls(slow -> print("~ " + slow.from() + " " + slow.to()));
    private final SteppedClock clock = new SteppedClock();

    /** The host of the limiter of an instance. */
    interface Host {
        /**
         * Starts the limiter.
         *
         * @param properties its properties
         * @param environment its clock
         * @param events receives each of its events as a line
         * @return runs an operation, whose words are those of a line of the input, and returns its outcome and value, or those of both parts
         */
        Function<String[], String> start(
                Map<String, String> properties, EngineEnvironment environment, Consumer<String> events);
    }

    private Instance(PrintStream out) {
        this.out = out;
    }

    /**
     * Runs an instance.
     *
     * @param properties the properties of the limiter, each as {@code name=value}
     */
    public static void main(String[] properties) throws IOException {
        run(properties, UnaryOperator.identity());
    }

    /**
     * Runs a changed instance, which a test of the checker must find.
     *
     * @param observers returns the changed observer of events
     */
    public static void run(String[] properties, UnaryOperator<Consumer<String>> observers) throws IOException {
        run(properties, observers, Instance::plain);
    }

    static void run(String[] properties, UnaryOperator<Consumer<String>> observers, Host host) throws IOException {
        Map<String, String> values = new TreeMap<>();
        for (String property : properties) {
            int equals = property.indexOf('=');
            values.put(property.substring(0, equals), property.substring(equals + 1));
        }
        // Nothing but results may appear in the standard output.
        PrintStream out = System.out;
        System.setOut(System.err);
        new Instance(out).serve(values, observers, host);
    }

    /** A program in plain Java as the host. */
    private static Function<String[], String> plain(
            Map<String, String> properties, EngineEnvironment environment, Consumer<String> events) {
        RateLimitBackend redis =
                new RedissonBackendProvider().create(name -> Optional.ofNullable(properties.get(name)));
        OperationsPlugin operations = new OperationsPlugin();
        HostedWeir weir = HostedWeir.on(new InstancePlatform(properties, redis, operations, environment, events));
        weir.start(Instance.class.getClassLoader());
        return new Calls(weir)::run;
    }

    private void serve(Map<String, String> properties, UnaryOperator<Consumer<String>> observers, Host host)
            throws IOException {
        stalls.start();
        Consumer<String> events = observers.apply(event -> print("! " + event));
        Function<String[], String> calls = host.start(properties, clock.environment(), events);
        ExecutorService threads = Executors.newCachedThreadPool();
        print("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String request = line;
            if (line.startsWith("clock ")) {
                clock.step(Long.parseLong(line.substring(6)));
            } else {
                threads.execute(() -> reply(calls, request));
            }
        }
        // Threads of the client and of waiting calls do not keep the process.
        Runtime.getRuntime().halt(0);
    }

    private void reply(Function<String[], String> calls, String request) {
        String[] words = request.split(" ", -1);
        long stalled = stalls.nanos();
        long start = System.nanoTime();
        String[] results = calls.apply(words).split(Calls.AND, -1);
        long took = System.nanoTime() - start;
        String times = " " + took + " " + (stalls.nanos() - stalled);
        print("= " + words[0] + " " + results[0] + times);
        if (words[2].contains(Calls.AND)) {
            print("= " + words[5] + " " + results[results.length - 1] + times);
        }
    }

    private synchronized void print(String line) {
        out.println(line);
        out.flush();
    }
}
