// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.operate.Operations;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the log is told of the page. */
class AuditTest {
    private static final Operations.Caller CALLER = new Operations.Caller("hello", "i.1", "i.~abc");

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger log = Logger.getLogger("io.weir.ratelimit.console");
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(new SimpleFormatter().formatMessage(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private long nanos;

    @BeforeEach
    void listen() {
        log.addHandler(handler);
    }

    @AfterEach
    void stopListening() {
        log.removeHandler(handler);
    }

    @Test
    void aUsersNameCannotMakeALineOfItsOwnNorTurnItAround() {
        new Audit(() -> nanos).reset(() -> "ann\r\nWEIR-502 \u0085\u009b31m\u2028\u2029\u202e{0}\ud800", CALLER);
        assertThat(lines)
                .containsExactly(
                        "WEIR-502 the user ann  WEIR-502   31m   {0}  reset the key i.~abc of the policy hello");
    }

    @Test
    void aResetThatTheStoreDidNotAnswerIsToldAsOneInDoubt() throws Exception {
        try (PageServer server = PageServer.start()) {
            server.operations.failure = Optional.of(FakeOperations.away());
            new PageClient(server.port()).post("/ratelimit/reset", "{\"policy\":\"hello\",\"code\":\"ann\"}");
        }
        assertThat(lines)
                .containsExactly("WEIR-502 somebody who is not logged in reset the key code ann of the policy hello,"
                        + " or not: the store did not answer (timeout)");
    }

    @Test
    void refusedEntriesAreToldOnceAMinuteWithTheirNumber() {
        Audit audit = new Audit(() -> nanos);
        for (int i = 0; i < 10; i++) {
            audit.refusedEntry("nobody is logged in");
        }
        nanos = 60_000_000_000L;
        audit.refusedEntry("nobody is logged in");
        assertThat(lines)
                .containsExactly(
                        "WEIR-503 the operators' page was refused to a request; the last time because nobody is logged in",
                        "WEIR-503 the operators' page was refused to 10 requests since it was said last;"
                                + " the last time because nobody is logged in");
    }
}
