// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import java.util.Optional;

/** The access to the console. Users need the role if one is configured. Everyone may use an open one, which never has a role. */
public record Access(boolean enabled, Optional<String> role, boolean open) {}
