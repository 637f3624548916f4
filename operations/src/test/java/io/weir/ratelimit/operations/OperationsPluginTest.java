// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OperationsPluginTest {
    private static final ConsoleSettings OPEN = new ConsoleSettings(true, Optional.empty(), true, Optional.empty());
    private static final ChangeSettings CHANGES = new ChangeSettings(true, Optional.of("changer"));

    private static Operations operations(Weir weir) {
        return weir.plugin(OperationsPlugin.class).operations();
    }

    @Test
    void theServiceMakesRuntimeChangesInPlainJava() throws Exception {
        try (Weir weir = Weir.builder()
                .property("ratelimit.policies.api.limit", "1/1h")
                .property("ratelimit.changes.enabled", "true")
                .property("ratelimit.changes.role", "changer")
                .build()) {
            RuntimeChanges changes = operations(weir).changes().orElseThrow();
            changes.make(
                    new ChangeRequest(
                            new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, "api", Optional.empty()),
                            Map.of("limit", "5/1h"),
                            Optional.empty(),
                            "more",
                            "alice"),
                    changes.view().tag());
            assertThat(operations(weir).policies().get(0).limits()).containsExactly("5/1h");
            assertThat(operations(weir).changesRole()).contains("changer");
        }
    }

    @Test
    void changesAreNotEnabledByDefault() {
        try (Weir weir =
                Weir.builder().property("ratelimit.policies.api.limit", "1/1h").build()) {
            assertThat(operations(weir).changes()).isEmpty();
            assertThat(operations(weir).access().enabled()).isFalse();
            assertThat(weir.plugin(OperationsPlugin.class).tasks()).isEmpty();
            assertThat(operations(weir).numberOfInstances()).isOne();
        }
    }

    @Test
    void theNumberOfInstancesIsThatOfTheFailureModes() {
        try (Weir weir = Weir.builder()
                .property("ratelimit.policies.api.limit", "1/1h")
                .property("ratelimit.instances", "3")
                .build()) {
            assertThat(operations(weir).numberOfInstances()).isEqualTo(3);
        }
    }

    @Test
    void problemsAreReportedWithAllOthers() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property("ratelimit.policies.api.limit", "many")
                        .property("ratelimit.changes.enabled", "true")
                        .property("ratelimit.console.role", " ")
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::id, ConfigurationProblem::place)
                        .containsExactlyInAnyOrder(
                                tuple("WEIR-132", "ratelimit.console.role"),
                                tuple("WEIR-139", "ratelimit.changes.role"),
                                tuple("WEIR-111", "ratelimit.policies.api.limit")));
    }

    @Test
    void warnsOfAClosedAndAnOpenConsole() {
        assertThat(warnings(new ConsoleSettings(true, Optional.of("operator"), false, Optional.empty()), CHANGES))
                .isEmpty();
        assertThat(warnings(new ConsoleSettings(true, Optional.empty(), false, Optional.empty()), ChangeSettings.NONE))
                .singleElement()
                .asString()
                .startsWith("WEIR-012 The console is enabled, but nobody may open it.");
        assertThat(warnings(OPEN, ChangeSettings.NONE))
                .singleElement()
                .asString()
                .startsWith("WEIR-013 The console is open to everyone");
    }

    @Test
    void warnsOfRuntimeChangesWithoutTheConsole() {
        assertThat(warnings(ConsoleSettings.CLOSED, CHANGES))
                .singleElement()
                .asString()
                .startsWith("WEIR-453 Runtime changes are enabled (ratelimit.changes.enabled), but the console is not");
        assertThat(warnings(ConsoleSettings.CLOSED, ChangeSettings.NONE)).isEmpty();
    }

    private static List<String> warnings(ConsoleSettings console, ChangeSettings changes) {
        return OperationsPlugin.warnings(console, changes).stream()
                .map(MessageCatalog.Message::text)
                .toList();
    }
}
