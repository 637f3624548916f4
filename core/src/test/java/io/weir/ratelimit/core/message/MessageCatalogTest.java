// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.lang.System.Logger.Level;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageCatalogTest {
    private final MessageCatalog messages = MessageCatalog.load(MessageCatalogTest.class, "test");

    /** Fails if it is formatted. */
    private static final Object UNUSED = new Object() {
        @Override
        public String toString() {
            throw new AssertionError("formatted");
        }
    };

    @Test
    void fillsInArgumentsByIndexAndLeavesQuotesAlone() {
        assertThat(messages.text("WEIR-901", "redisson", 1_000))
                .isEqualTo("WEIR-901 Backend redisson isn't 1000 in redisson.");
    }

    @Test
    void doesNotInterpretAnArgument() {
        assertThat(messages.text("WEIR-901", "{1:state} $1 \\", null))
                .isEqualTo("WEIR-901 Backend {1:state} $1 \\ isn't null in {1:state} $1 \\.");
    }

    @Test
    void doesNotRepeatTheFullStopOfAnArgument() {
        assertThat(messages.text("WEIR-901", "The end.", "b."))
                .isEqualTo("WEIR-901 Backend The end. isn't b. in The end.");
    }

    @Test
    void replacesControlCharactersOfAnArgument() {
        assertThat(messages.text("WEIR-901", "a\r\nWEIR-999 b\u0085\u202e", "c"))
                .isEqualTo("WEIR-901 Backend a  WEIR-999 b   isn't c in a  WEIR-999 b  .");
    }

    @Test
    void aVariantShowsTheNumberOfItsMessage() {
        assertThat(messages.text("WEIR-902")).isEqualTo("WEIR-902 First.");
        assertThat(messages.text("WEIR-902.second", "x"))
                .isEqualTo("WEIR-902 Second {braces} and 'quotes' — and {1:missing}.");
    }

    @Test
    void logsAtTheLevelOfTheMessageOrAtAnother() {
        try (LogCapture log = new LogCapture()) {
            messages.log("WEIR-901", "{0}", "away");
            messages.log(new IllegalStateException("cause"), "WEIR-902");
            messages.log(Level.ERROR, "WEIR-902");
            assertThat(log.lines())
                    .containsExactly(
                            "WARNING WEIR-901 Backend {0} isn't away in {0}.",
                            "INFO WEIR-902 First.", "SEVERE WEIR-902 First.");
        }
    }

    @Test
    void doesNotFormatAMessageThatIsNotLogged() {
        try (LogCapture log = new LogCapture(java.util.logging.Level.SEVERE)) {
            messages.log("WEIR-901", UNUSED, UNUSED);
            messages.log(new IllegalStateException(), "WEIR-901", UNUSED, UNUSED);
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void indentsTheLinesBelowAMessage() {
        assertThat(messages.message("WEIR-902").withLines(List.of("a", "b\nc")))
                .isEqualTo(new MessageCatalog.Message(Level.INFO, "WEIR-902 First.\n  a\n  b c"));
    }

    @Test
    void describesAProblem() {
        assertThat(messages.problem("WEIR-903", "ratelimit.x", "7", 5))
                .isEqualTo(
                        new ConfigurationProblem("WEIR-903", "ratelimit.x", "7", "must be at most 5", "use 5 or less"));
    }

    @Test
    void rejectsAMessageThatDoesNotExist() {
        assertThatThrownBy(() -> messages.text("WEIR-903"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("message WEIR-903 has no text");
        assertThatThrownBy(() -> MessageCatalog.load(MessageCatalogTest.class, "missing"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/META-INF/weir/messages/missing.properties");
    }
}
