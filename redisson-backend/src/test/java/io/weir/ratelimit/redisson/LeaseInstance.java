// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * An instance in a process of its own. It calls with one key until it is killed, and stores the number of allowed calls in a file that
 * outlives it.
 */
final class LeaseInstance implements AutoCloseable {
    private final Process process;
    private final Path count;

    private LeaseInstance(Process process, Path count) {
        this.process = process;
        this.count = count;
    }

    /** Starts an instance. */
    static LeaseInstance started(
            Path folder, String name, String address, String namespace, Algorithm algorithm, long permits, long lease) {
        Path count = folder.resolve(name);
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        try {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx128m",
                            "-cp",
                            classes,
                            LeaseInstance.class.getName(),
                            address,
                            namespace,
                            algorithm.name(),
                            String.valueOf(permits),
                            String.valueOf(lease),
                            count.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve(name + ".log").toFile())
                    .start();
            return new LeaseInstance(process, count);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number of allowed calls, possibly one less after a kill. */
    long allowed() {
        try (FileChannel file = FileChannel.open(count, StandardOpenOption.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);
            return file.read(bytes) < Long.BYTES ? 0 : bytes.flip().getLong();
        } catch (java.nio.file.NoSuchFileException e) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the process, as a crash does. */
    @Override
    public void close() {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Calls until the process is killed.
     *
     * @param arguments address, namespace, algorithm, permits, lease, and the file for the number
     */
    public static void main(String... arguments) throws IOException {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress(arguments[0]);
        RedissonBackend backend = new RedissonBackend(Redisson.create(config), arguments[1], Duration.ofSeconds(2));
        Charge charge = LeasedCalls.charge(
                Long.parseLong(arguments[4]),
                LeasedCalls.monthly(Algorithm.valueOf(arguments[2]), Long.parseLong(arguments[3])));
        try (FileChannel file = FileChannel.open(
                Path.of(arguments[5]), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer count = file.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
            while (true) {
                try {
                    if (backend.acquire(List.of(charge)).allowed()) {
                        count.putLong(0, count.getLong(0) + 1);
                    }
                } catch (BackendException e) {
                    // not connected yet
                }
            }
        }
    }
}
