// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.message;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code operations}. */
public final class OperationsMessages {
    /** The catalog of this module. */
    public static final MessageCatalog MESSAGES = MessageCatalog.load(OperationsMessages.class, "operations");

    private OperationsMessages() {}
}
