// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A Java process on the class path of the test, so that a test has several instances.
 *
 * @param process the process
 */
record ChildJvm(Process process) implements AutoCloseable {
    /** Starts a process whose output is that of the log. */
    static ChildJvm withLog(Path log, Class<?> main, String... arguments) {
        return started(builder(main, arguments).redirectErrorStream(true).redirectOutput(log.toFile()));
    }

    /** Starts a process whose standard output the test reads. */
    static ChildJvm withOutput(ProcessBuilder.Redirect errors, Class<?> main, String... arguments) {
        return started(builder(main, arguments).redirectError(errors));
    }

    private static ProcessBuilder builder(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    private static ChildJvm started(ProcessBuilder builder) {
        try {
            return new ChildJvm(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a client for the code of the process. */
    static RedissonClient client(String address) {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress(address);
        return Redisson.create(config);
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
}
