// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ejb.Singleton;

@Singleton
@RateLimit("keeper")
public class Keeper {
    public String keep() {
        return "kept";
    }
}
