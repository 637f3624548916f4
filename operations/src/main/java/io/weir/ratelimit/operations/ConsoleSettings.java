// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import java.util.Optional;

/**
 * The settings of the console. Users need the role if one is configured. Everyone may use an open one, which never has a role. The console
 * links to the dashboards.
 */
public record ConsoleSettings(boolean enabled, Optional<String> role, boolean open, Optional<String> grafana) {
    /** A console that is not enabled. */
    static final ConsoleSettings CLOSED = new ConsoleSettings(false, Optional.empty(), false, Optional.empty());

    /** Reads the settings. An invalid value closes the console. */
    static ConsoleSettings read(ConfigReader reader) {
        boolean enabled = reader.value(ConfigKeys.CONSOLE_ENABLED);
        boolean open = reader.value(ConfigKeys.CONSOLE_OPEN);
        Optional<String> role = reader.optional(ConfigKeys.CONSOLE_ROLE);
        if (role.filter(String::isEmpty).isPresent()) {
            reader.report(MESSAGES.problem("WEIR-132", ConfigKeys.CONSOLE_ROLE.name(), ""));
        }
        if (open && role.isPresent()) {
            reader.report(MESSAGES.problem(
                    "WEIR-131", ConfigKeys.CONSOLE_OPEN.name(), "true", ConfigKeys.CONSOLE_ROLE.name()));
        }
        return new ConsoleSettings(enabled, role, open && role.isEmpty(), reader.optional(ConfigKeys.CONSOLE_GRAFANA));
    }
}
