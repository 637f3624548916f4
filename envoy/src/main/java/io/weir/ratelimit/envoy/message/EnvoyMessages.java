// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.message;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code envoy}. */
public final class EnvoyMessages {
    /** The catalog of this module. */
    public static final MessageCatalog MESSAGES = MessageCatalog.load(EnvoyMessages.class, "envoy");

    private EnvoyMessages() {}
}
