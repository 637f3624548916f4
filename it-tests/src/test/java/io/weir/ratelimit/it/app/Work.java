// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.ApplicationScoped;

/** A plain bean. */
@ApplicationScoped
public class Work {
    @RateLimit("once")
    public String once() {
        return "once";
    }

    @RateLimit("repeated")
    public void repeated() {}

    @RateLimit(value = "dearer", cost = 5)
    public String dearer() {
        return "dearer";
    }

    @RateLimit("below")
    public String below() {
        return "below";
    }

    @RateLimit("by-argument-of-bean")
    public String forUser(String unmarked, @RateLimitKey("user") String user) {
        return unmarked + user;
    }

    @RateLimit("by-argument")
    public String sameUser(@RateLimitKey("user") String user) {
        return user;
    }

    @RateLimit("detached")
    public String detached() {
        return "detached";
    }
}
