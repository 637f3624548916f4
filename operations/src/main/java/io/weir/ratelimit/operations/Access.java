// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import java.util.Optional;

/**
 * The access to the console.
 *
 * @param role the role that its users need; empty if none is configured
 * @param open whether everyone may use the console; never with a role
 */
public record Access(boolean enabled, Optional<String> role, boolean open) {}
