// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.message;

/** The messages of the module {@code core}. */
public final class CoreMessages {
    public static final MessageCatalog MESSAGES = MessageCatalog.load(CoreMessages.class, "core");

    private CoreMessages() {}
}
