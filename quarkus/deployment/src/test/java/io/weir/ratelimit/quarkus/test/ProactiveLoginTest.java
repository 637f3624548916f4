// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import io.quarkus.test.QuarkusUnitTest;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Quarkus authenticates each request, as by default. */
class ProactiveLoginTest extends LoginContract {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application(true);
}
