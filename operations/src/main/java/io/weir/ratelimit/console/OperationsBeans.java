// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.HttpResource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;
import java.time.Clock;

/** The beans of the plug-in in a CDI container. */
@ApplicationScoped
public class OperationsBeans {
    /** Produces the operations for operators. The host produces the part of them that applications inject. */
    @Produces
    @Dependent
    @Typed(Operations.class)
    public Operations operations(HostedWeir weir) {
        return weir.plugin(OperationsPlugin.class).operations();
    }

    /** Produces the console, for a host without servlets. */
    @Produces
    @Singleton
    public HttpResource console() {
        return new ConsoleResource(Console::find, Clock.systemUTC(), System::nanoTime);
    }
}
