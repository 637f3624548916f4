// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code redisson-backend}. */
public final class RedisMessages {
    public static final MessageCatalog MESSAGES = MessageCatalog.load(RedisMessages.class, "redisson-backend");

    private RedisMessages() {}
}
