// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code client}. */
public final class ClientMessages {
    /** The catalog of this module. */
    public static final MessageCatalog MESSAGES = MessageCatalog.load(ClientMessages.class, "client");

    private ClientMessages() {}
}
