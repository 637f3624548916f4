// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.redisson.api.RedissonClient;

/**
 * An instance in a process of its own. It holds a lease of each limit, and refunds each call until it is killed, so that it always has
 * permits. A file that outlives it has the number of allowed calls of each limit, without the refunded ones.
 */
final class LeaseInstance implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Duration START_WITHIN = Duration.ofSeconds(60);

    private final ChildJvm jvm;
    private final Path counts;
    private final Path log;

    private LeaseInstance(ChildJvm jvm, Path counts, Path log) {
        this.jvm = jvm;
        this.counts = counts;
        this.log = log;
    }

    /** Starts an instance. */
    static LeaseInstance started(Path folder, String address, String namespace, long permits, long lease) {
        Path counts = folder.resolve("counts");
        Path log = folder.resolve("log");
        ChildJvm jvm = ChildJvm.withLog(
                log,
                LeaseInstance.class,
                address,
                namespace,
                String.valueOf(permits),
                String.valueOf(lease),
                counts.toString());
        return new LeaseInstance(jvm, counts, log);
    }

    /** Returns the charge of each limit. */
    static List<Charge> charges(long permits, long lease) {
        return List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET).stream()
                .map(algorithm -> new Charge(
                        new PolicyLimits(algorithm.configName(), List.of(LeasedCalls.monthly(algorithm, permits)))
                                .withLease(lease),
                        "k.hot",
                        1))
                .toList();
    }

    /** Waits until the instance holds a lease of each limit, and calls and refunds. */
    void awaitLeases() {
        Await.until("the instance holds leases", START_WITHIN, () -> {
            if (!jvm.process().isAlive()) {
                throw new AssertionError("the instance has ended: " + text(log));
            }
            return number(0) > 0;
        });
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number of allowed calls of a limit, possibly one less. */
    long allowed(int limit) {
        return number(1 + limit);
    }

    private long number(int index) {
        try (FileChannel file = FileChannel.open(counts, StandardOpenOption.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);
            return file.read(bytes, (long) index * Long.BYTES) < Long.BYTES
                    ? 0
                    : bytes.flip().getLong();
        } catch (java.nio.file.NoSuchFileException e) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the process, as a crash does. */
    @Override
    public void close() {
        jvm.close();
    }

    /**
     * Calls until the process is killed.
     *
     * @param arguments address, namespace, permits, lease, and the file for the numbers
     */
    public static void main(String... arguments) throws IOException {
        RedissonClient client = ChildJvm.client(arguments[0]);
        RedissonBackend backend = new RedissonBackend(client, arguments[1], DEADLINE);
        RedissonBackend other = new RedissonBackend(client, arguments[1], DEADLINE);
        FaultCalls.awaitDecision(backend);
        FaultCalls.awaitDecision(other);
        List<LeasedCalls> limits = charges(Long.parseLong(arguments[2]), Long.parseLong(arguments[3])).stream()
                .map(charge -> new LeasedCalls(backend, other, charge).hot())
                .toList();
        try (FileChannel file = FileChannel.open(
                Path.of(arguments[4]), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer counts = file.map(FileChannel.MapMode.READ_WRITE, 0, (1 + limits.size()) * (long) Long.BYTES);
            for (long round = 1; ; round++) {
                for (int limit = 0; limit < limits.size(); limit++) {
                    callAndRefund(limits.get(limit), counts, 1 + limit);
                }
                counts.putLong(0, round);
            }
        }
    }

    private static void callAndRefund(LeasedCalls calls, ByteBuffer counts, int index) {
        Decision.Allowed allowed = (Decision.Allowed) calls.call();
        counts.putLong(index * Long.BYTES, calls.allowed());
        // A kill between the two steps must not leave a call that is refunded and counted.
        counts.putLong(index * Long.BYTES, calls.allowed() - 1);
        calls.refund(allowed);
    }
}
