// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import java.util.Optional;

/** The settings of runtime changes, which are never enabled without a role. */
public record ChangeSettings(boolean enabled, Optional<String> role) {
    /** No runtime changes. */
    public static final ChangeSettings NONE = new ChangeSettings(false, Optional.empty());

    /** Reads the settings. A missing role disables the changes. */
    static ChangeSettings read(ConfigReader reader) {
        boolean enabled = reader.value(ConfigKeys.CHANGES_ENABLED);
        Optional<String> text = reader.optional(ConfigKeys.CHANGES_ROLE);
        Optional<String> role = text.filter(name -> !name.isEmpty());
        if (role.isEmpty() && (enabled || text.isPresent())) {
            reader.report(MESSAGES.problem("WEIR-139", ConfigKeys.CHANGES_ROLE.name(), ""));
        }
        return new ChangeSettings(enabled && role.isPresent(), role);
    }
}
