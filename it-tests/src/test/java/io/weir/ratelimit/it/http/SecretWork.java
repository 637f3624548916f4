// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

@ApplicationScoped
public class SecretWork {
    @RateLimit("secret")
    public String secret() {
        return "secret";
    }
}
