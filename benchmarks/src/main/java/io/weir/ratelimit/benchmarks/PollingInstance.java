// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process with an instance, which prints the number of the last change in force. */
final class PollingInstance implements AutoCloseable {
    private static final String READY = "ready";

    private final Process process;
    private final BufferedReader output;

    private PollingInstance(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    }

    static PollingInstance started(String address, String namespace) throws IOException {
        return new PollingInstance(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PollingInstance.class.getName(),
                        address,
                        namespace)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** Waits until the instance reads changes. */
    void awaitReady() throws IOException {
        while (!READY.equals(line())) {
            // Other lines precede it.
        }
    }

    /** Waits until other changes are in force. */
    long nextNumber() throws IOException {
        return Long.parseLong(line());
    }

    private String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("an instance has ended");
        }
        return line;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /**
     * Prints the changes while the parent process runs.
     *
     * @param arguments address and namespace
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] arguments) throws InterruptedException {
        ProcessHandle parent = ProcessHandle.current().parent().orElseThrow();
        try (ChangedInstance instance = new ChangedInstance(arguments[0], arguments[1])) {
            System.out.println(READY);
            long known = 0;
            while (parent.isAlive()) {
                TimeUnit.MILLISECONDS.sleep(1);
                long last = instance.known();
                if (last > known && instance.isInForce(last)) {
                    System.out.println(last);
                    instance.check(last);
                    known = last;
                }
            }
        }
    }
}
