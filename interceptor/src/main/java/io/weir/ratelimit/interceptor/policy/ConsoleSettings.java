// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.Optional;

/**
 * The settings of the operators' page.
 *
 * @param enabled whether there is one
 * @param role the role that its callers must have
 * @param open whether everybody may see it; never with a role
 */
public record ConsoleSettings(boolean enabled, Optional<String> role, boolean open) {
    private static final String ROLE = "ratelimit.console.role";
    private static final String OPEN = "ratelimit.console.open";

    /** What is wrong closes the page. */
    static ConsoleSettings read(ConfigReader reader, Problems problems) {
        boolean enabled = reader.flag("ratelimit.console.enabled", false);
        boolean open = reader.flag(OPEN, false);
        Optional<String> role = reader.text(ROLE);
        if (role.filter(String::isEmpty).isPresent()) {
            problems.add(
                    "WEIR-132", ROLE, "", "is blank, which is the name of no role", "name a role, or leave it out");
        }
        if (open && role.isPresent()) {
            problems.add(
                    "WEIR-131",
                    OPEN,
                    "true",
                    "opens the page to everybody, though " + ROLE + " keeps it for one role",
                    "keep one of both, " + ROLE + " wherever somebody else can reach the page");
        }
        return new ConsoleSettings(enabled, role, open && role.isEmpty());
    }
}
