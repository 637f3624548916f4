// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import io.quarkus.test.QuarkusUnitTest;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Quarkus authenticates a request only when something asks for its user. */
class LazyLoginTest extends LoginContract {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application(false);
}
