// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Measures the start of the engine of a test class: the first one in a JVM, and the second one. Each measurement has a new JVM with default
 * options, and the kinds alternate. {@code -Dweir.test.starts} is the number of JVMs per kind. Not a part of the build.
 */
class StartCost {
    private enum Kind {
        PLAIN,
        LISTED_BEANS,
        BEANS_OF_THE_CLASS_PATH
    }

    @ApplicationScoped
    static class Service {
        @RateLimit("hello")
        void call() {}
    }

    @Test
    void measure() throws Exception {
        Map<Kind, List<Long>> first = new EnumMap<>(Kind.class);
        Map<Kind, List<Long>> second = new EnumMap<>(Kind.class);
        for (int run = 0; run < Integer.getInteger("weir.test.starts", 10); run++) {
            for (Kind kind : Kind.values()) {
                String[] millis = inNewJvm(kind).split(" ");
                first.computeIfAbsent(kind, any -> new ArrayList<>()).add(Long.valueOf(millis[0]));
                second.computeIfAbsent(kind, any -> new ArrayList<>()).add(Long.valueOf(millis[1]));
            }
        }
        for (Kind kind : Kind.values()) {
            System.out.printf(
                    "%s: first start %s, second start %s%n", kind, text(first.get(kind)), text(second.get(kind)));
        }
    }

    private static String text(List<Long> millis) {
        List<Long> sorted = millis.stream().sorted().toList();
        return "median " + sorted.get(sorted.size() / 2) + " ms, longest " + sorted.get(sorted.size() - 1) + " ms";
    }

    private static String inNewJvm(Kind kind) throws IOException, InterruptedException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        StartCost.class.getName(),
                        kind.name())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines()
                .filter(line -> line.startsWith("millis "))
                .findFirst()
                .orElseThrow()
                .substring("millis ".length());
    }

    /**
     * Starts and stops two engines, and prints the milliseconds of each start.
     *
     * @param arguments the kind
     */
    public static void main(String[] arguments) {
        Kind kind = Kind.valueOf(arguments[0]);
        long first = start(kind);
        System.out.println("millis " + first + " " + start(kind));
    }

    private static long start(Kind kind) {
        Setup setup = new Setup(
                Map.of("ratelimit.policies.hello.limit", "5/10s"),
                Instant.parse(WeirTest.DEFAULT_NOW),
                true,
                kind == Kind.LISTED_BEANS ? List.of(Service.class) : List.of(),
                List.of(),
                kind != Kind.PLAIN,
                Optional.empty(),
                Map.of(),
                Map.of(),
                List.of());
        long start = System.nanoTime();
        StartedEngine engine = Engines.start(setup, StartCost.class);
        long end = System.nanoTime();
        engine.stop();
        return TimeUnit.NANOSECONDS.toMillis(end - start);
    }
}
