// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import org.junit.jupiter.api.extension.RegisterExtension;

/** The policy contracts in process. */
class QuarkusPoliciesTest extends QuarkusPoliciesContract {
    @RegisterExtension
    static final QuarkusProgram PROGRAM = program();

    QuarkusPoliciesTest() {
        super(PROGRAM);
    }
}
