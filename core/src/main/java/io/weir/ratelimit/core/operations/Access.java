// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import java.util.Optional;

/**
 * Who may see the operators' page.
 *
 * @param enabled whether there is one
 * @param role the role that its callers must have; empty if none was configured
 * @param open whether everybody may, without any security; never with a role
 */
public record Access(boolean enabled, Optional<String> role, boolean open) {}
