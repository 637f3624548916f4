// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The policy contracts with Redis, where refunds follow after the response. */
@Tag("redis")
class QuarkusPoliciesOnRedisTest extends QuarkusPoliciesContract {
    @RegisterExtension
    static final QuarkusProgram PROGRAM = program().onRedis();

    QuarkusPoliciesOnRedisTest() {
        super(PROGRAM);
    }
}
