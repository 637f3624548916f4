// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.operate.Operations;
import io.weir.ratelimit.spi.ManualTime;
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

/** What the log is told of the page. */
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
    void listen() {
        LOGGER.addHandler(handler);
    }

    @AfterEach
    void endListening() {
        LOGGER.removeHandler(handler);
    }

    @Test
    void eachResetIsToldWithWhoDidItInOneLine() {
        Operations.Caller caller = new Operations.Caller("hello", "k.secret", "i.~ab");
        audit.reset(() -> "ann\nWEIR-502 the user ben", caller);
        audit.reset(null, caller);
        assertThat(lines)
                .containsExactly(
                        "INFO WEIR-502 the user ann WEIR-502 the user ben reset the key i.~ab of the policy hello",
                        "INFO WEIR-502 somebody who is not logged in reset the key i.~ab of the policy hello");
    }

    @Test
    void aUsersNameCannotEndALineNorTurnItAround() {
        audit.reset(
                () -> "ann\u0085\u009b31m\u2028\u2029\u202e\ud800",
                new Operations.Caller("hello", "k.secret", "i.~ab"));
        assertThat(lines)
                .containsExactly("INFO WEIR-502 the user ann  31m     reset the key i.~ab of the policy hello");
    }

    @Test
    void aResetThatTheStoreDidNotAnswerIsToldAsOneInDoubt() throws Exception {
        try (PageServer server = PageServer.start()) {
            server.operations.failure = Optional.of(FakeOperations.away());
            new PageClient(server.port()).post("/ratelimit/reset", "{\"policy\":\"hello\",\"code\":\"ann\"}");
        }
        assertThat(lines)
                .containsExactly(
                        "INFO WEIR-502 somebody who is not logged in reset the key code ann of the policy hello,"
                                + " or not: the store did not answer (timeout)");
    }

    @Test
    void whatAnybodyCanCauseIsToldOnceAMinute() {
        for (int i = 0; i < 3; i++) {
            audit.refusedEntry("nobody is logged in");
            audit.refusedOrigin();
            audit.failed(new IllegalStateException());
        }
        assertThat(lines).hasSize(3);
        time.advanceMicros(60_000_000);
        lines.clear();
        audit.refusedEntry("nobody is logged in");
        audit.refusedOrigin();
        assertThat(lines)
                .containsExactly(
                        "INFO WEIR-503 the operators' page was refused to 3 requests since it was said last; the last time because"
                                + " nobody is logged in",
                        "WARNING WEIR-504 the operators' page was sent 3 requests since it was said last that did not come from"
                                + " itself, and refused");
    }
}
