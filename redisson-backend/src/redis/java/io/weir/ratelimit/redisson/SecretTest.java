// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No log and no exception contains a secret, whether the connection succeeds or not. */
@Tag("redis")
class SecretTest {
    private static final String SECRET = "c4nary";

    @ParameterizedTest(name = "password {0}")
    @ValueSource(strings = {SECRET, "wr0ng" + SECRET})
    void logsAndFailuresContainNoPassword(String password) {
        List<String> texts = new ArrayList<>();
        String logged = logged(() -> {
            try (RedisProcess process = RedisProcess.started("--requirepass", SECRET)) {
                RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, process.address(password)))
                        .withDeadline(FaultCalls.DEADLINE)
                        .started();
                try {
                    if (password.equals(SECRET)) {
                        FaultCalls.awaitDecision(backend);
                        process.kill();
                    }
                    for (int call = 0; call < 50; call++) {
                        BackendException failure = FaultCalls.failure(backend);
                        texts.add(failure.reason() + " " + failure.getMessage());
                    }
                    texts.add(backend.toString());
                } finally {
                    backend.close();
                }
            }
        });
        assertThat(logged).isNotEmpty().doesNotContain(SECRET);
        assertThat(texts).isNotEmpty().noneMatch(text -> text.contains(SECRET));
    }

    @Test
    void aFailureDoesNotContainTheStoredKey() {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture =
                        TestBackend.on(process.address(), FaultCalls.DEADLINE).ready()) {
            process.kill();
            for (int call = 0; call < 20; call++) {
                assertThat(FaultCalls.failure(fixture.backend()).getMessage()).doesNotContain("k.fault");
            }
        }
    }

    /** Returns the complete log of the library and its client during a task. */
    static String logged(Runnable action) {
        List<String> lines = Collections.synchronizedList(new ArrayList<>());
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                lines.add(new SimpleFormatter().format(entry));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.weir.ratelimit");
        Level level = logger.getLevel();
        PrintStream error = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        logger.addHandler(handler);
        logger.setLevel(Level.ALL);
        System.setErr(new PrintStream(written, true, UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(error);
            logger.removeHandler(handler);
            logger.setLevel(level);
        }
        return lines + written.toString(UTF_8);
    }
}
