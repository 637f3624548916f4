// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import org.junit.jupiter.api.Tag;

/** The release of slots in Redis. */
@Tag("redis")
class QuarkusSlotsOnRedisTest extends QuarkusSlotsTest {}
