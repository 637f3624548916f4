// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.changes.ChangeCodec;
import io.weir.ratelimit.core.changes.ChangeState;
import io.weir.ratelimit.core.changes.UntrustedChangesException;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.ChangeStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A process that reads the runtime changes every 400 ms, as an instance does, and prints the number of each state. */
final class PollingInstance implements AutoCloseable {
    private static final long PERIOD_MILLIS = 400;
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

    /** Waits for the next state. */
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
     * Reads the changes while the parent process runs.
     *
     * @param arguments address and namespace
     */
    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient client = client(arguments[0]);
        RedissonBackend backend = new RedissonBackend(client, arguments[1], Duration.ofSeconds(10));
        ChangeStore store = store(backend);
        ChangeCodec codec = new ChangeCodec(arguments[1], ChangeTimes.SECRET);
        ProcessHandle parent = ProcessHandle.current().parent().orElseThrow();
        System.out.println(READY);
        String known = ChangeStore.NO_TAG;
        while (parent.isAlive()) {
            TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
            known = read(store, codec, known);
        }
        backend.close();
        client.shutdown();
    }

    private static String read(ChangeStore store, ChangeCodec codec, String known) {
        try {
            ChangeStore.Stored stored = store.read(known).toCompletableFuture().join();
            if (stored.state().isPresent()) {
                ChangeState state = codec.decodeState(stored.state().get());
                System.out.println(state.number());
            }
            return stored.tag();
        } catch (CompletionException | UntrustedChangesException e) {
            System.err.println(e);
            return known;
        }
    }

    static RedissonClient client(String address) {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress(address);
        return Redisson.create(config);
    }

    /** Returns the store once Redis answers. */
    static ChangeStore store(RedissonBackend backend) {
        while (true) {
            try {
                backend.peek(ChangeTimes.CHARGE);
                return backend.changeStore().orElseThrow();
            } catch (BackendException e) {
                Thread.onSpinWait();
            }
        }
    }
}
