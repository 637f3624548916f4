// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

@ApplicationScoped
public class Mail {
    @RateLimit("mail")
    public void send() {}
}
