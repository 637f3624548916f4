// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.message;

import io.weir.ratelimit.core.message.MessageCatalog;

/** The messages of the module {@code interceptor}. */
public final class InterceptorMessages {
    public static final MessageCatalog MESSAGES = MessageCatalog.load(InterceptorMessages.class, "interceptor");

    private InterceptorMessages() {}
}
