// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code console}. */
final class ConsoleMessages {
    static final MessageCatalog MESSAGES = MessageCatalog.load(ConsoleMessages.class, "console");

    private ConsoleMessages() {}
}
