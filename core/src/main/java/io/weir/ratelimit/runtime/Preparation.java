// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Map;

/** The values that a plug-in reads before the limiter exists; it reports its problems to {@code problems}. */
public record Preparation(
        ConfigProperties config,
        Settings settings,
        Platform platform,
        Map<String, KeyResolver> resolvers,
        Problems problems) {}
