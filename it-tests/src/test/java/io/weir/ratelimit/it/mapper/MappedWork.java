// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.mapper;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

@ApplicationScoped
public class MappedWork {
    @RateLimit("once")
    public String once() {
        return "bean";
    }
}
