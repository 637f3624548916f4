// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.operations.Operations;
import jakarta.enterprise.inject.spi.CDI;

/** The parts of the deployment that the console uses. */
record Console(Operations operations, FleetConsole fleet, CallerQuotas.Logins logins) {
    /**
     * Looks up the console of the current application. Injection is not possible, because not every container injects into a servlet that
     * is added as an object.
     */
    static Console find() {
        CDI<Object> beans = CDI.current();
        return new Console(
                beans.select(Operations.class).get(),
                beans.select(FleetReporter.class).get().fleet(),
                beans.select(CallerQuotas.Logins.class).get());
    }
}
