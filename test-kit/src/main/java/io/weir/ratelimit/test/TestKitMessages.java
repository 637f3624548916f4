// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code test-kit}. */
final class TestKitMessages {
    static final MessageCatalog MESSAGES = MessageCatalog.load(TestKitMessages.class, "test-kit");

    private TestKitMessages() {}
}
