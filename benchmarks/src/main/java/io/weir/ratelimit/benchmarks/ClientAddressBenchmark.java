// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.core.key.IpAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The time to find the client address in a header of 100,000 characters in which all addresses are trusted. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ClientAddressBenchmark {
    private static final int LENGTH = 100_000;
    private static final Optional<String> PEER = Optional.of("10.0.0.1");

    /** The repeated part of the header. The last value is an untrusted address, for comparison. */
    @Param({"10.0.0.2,", "::1,", "x", "for=10.0.0.2,", "for=\"[::1]\",", "a=\"\\\\\\\\\";", "6.6.6.6,"})
    public String unit = "";

    private ClientAddress clients = new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR);
    private List<String> lines = List.of();

    /** Creates the header. */
    @Setup
    public void prepare() {
        boolean forwarded = unit.indexOf('=') >= 0;
        clients = new ClientAddress(
                AddressRange.parseAll("10.0.0.0/8, ::1"),
                forwarded ? ForwardedHeader.FORWARDED : ForwardedHeader.X_FORWARDED_FOR);
        String line = unit.repeat(LENGTH / unit.length());
        lines = List.of(line.endsWith(",") ? line.substring(0, line.length() - 1) : line);
    }

    /**
     * Finds the client address.
     *
     * @return the address
     */
    @Benchmark
    public Optional<IpAddress> clientAddress() {
        return clients.of(PEER, name -> lines);
    }
}
