// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import org.junit.jupiter.api.Tag;

/** The policy contracts with Redis, where refunds follow after the response. */
@Tag("redis")
class QuarkusPoliciesOnRedisTest extends QuarkusPoliciesTest {}
