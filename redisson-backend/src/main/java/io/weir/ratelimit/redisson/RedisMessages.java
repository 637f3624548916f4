// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code redisson-backend}. */
final class RedisMessages {
    static final MessageCatalog MESSAGES = MessageCatalog.load(RedisMessages.class, "redisson-backend");

    private RedisMessages() {}
}
