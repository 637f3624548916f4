// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.tck.ManualTime;
import java.text.MessageFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The log messages of the console. */
class AuditTest {
    private static final Logger LOGGER = Logger.getLogger("io.weir.ratelimit.console");

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final ManualTime time = new ManualTime();
    private final Audit audit = new Audit(() -> time.micros() * 1_000);
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getLevel() + " " + MessageFormat.format(line.getMessage(), line.getParameters()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void addHandler() {
        LOGGER.addHandler(handler);
    }

    @AfterEach
    void removeHandler() {
        LOGGER.removeHandler(handler);
    }

    @Test
    void logsEachResetWithTheUserInOneLine() {
        CallerOperations.Caller caller = FakeOperations.callerOf("hello", "i.~ab");
        audit.reset(Optional.of("ann\nWEIR-502 the user ben"), caller, () -> true);
        audit.reset(Optional.empty(), caller, () -> true);
        assertThat(lines)
                .containsExactly(
                        "INFO WEIR-502 Key i.~ab of policy hello was reset by user ann WEIR-502 the user ben.",
                        "INFO WEIR-502 Key i.~ab of policy hello was reset by an anonymous user.");
    }

    @Test
    void replacesControlCharactersInUserNames() {
        audit.reset(
                Optional.of("ann\u0085\u009b31m\u2028\u2029\u202e\ud800"),
                FakeOperations.callerOf("hello", "i.~ab"),
                () -> true);
        assertThat(lines).containsExactly("INFO WEIR-502 Key i.~ab of policy hello was reset by user ann  31m    .");
    }

    @Test
    void logsAResetWithoutAResponseOfTheBackend() throws Exception {
        try (PageServer server = PageServer.start()) {
            server.operations.failure = Optional.of(FakeOperations.unavailable());
            new PageClient(server.port())
                    .post("/ratelimit/api/v1/callers/reset", "{\"policy\":\"hello\",\"text\":\"ann\"}");
        }
        assertThat(lines)
                .containsExactly("INFO WEIR-502 Key text ann of policy hello may have been reset by an anonymous user."
                        + " The backend did not answer (timeout).");
    }

    @Test
    void logsEventsOfClientsOncePerMinute() {
        for (int i = 0; i < 3; i++) {
            audit.rejectedAccess("no user is logged in");
            audit.rejectedOrigin();
            audit.failed(new IllegalStateException());
        }
        assertThat(lines).hasSize(3);
        time.advanceMicros(60_000_000);
        lines.clear();
        audit.rejectedAccess("no user is logged in");
        audit.rejectedOrigin();
        assertThat(lines)
                .containsExactly(
                        "INFO WEIR-503 The console rejected requests without access rights. Number since the last such"
                                + " message: 3. Last reason: no user is logged in.",
                        "WARNING WEIR-504 The console rejected requests from another origin. Number since the last such"
                                + " message: 3. If an operator sent them, the proxy must pass on the Host header.");
    }
}
