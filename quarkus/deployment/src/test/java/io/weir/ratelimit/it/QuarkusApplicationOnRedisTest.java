// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import org.junit.jupiter.api.Tag;

/** The application contract with Redis. */
@Tag("redis")
class QuarkusApplicationOnRedisTest extends QuarkusApplicationTest {}
