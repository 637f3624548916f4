// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.operate.Operations;
import jakarta.enterprise.inject.spi.CDI;

/**
 * What the page needs of the deployment.
 *
 * @param operations what an operator sees and does
 * @param rates what was counted
 */
record Console(Operations operations, LiveRates rates) {
    /**
     * What the application at hand has deployed. Looked up, not injected: containers inject into a servlet that is added as an object, or do not.
     */
    static Console find() {
        CDI<Object> beans = CDI.current();
        return new Console(
                beans.select(Operations.class).get(),
                beans.select(LiveDecisions.class).get().counted().orElseGet(() -> new LiveRates(System::nanoTime)));
    }
}
