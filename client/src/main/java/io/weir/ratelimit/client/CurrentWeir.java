// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import io.weir.ratelimit.client.outgoing.ClientPlugin;
import io.weir.ratelimit.runtime.ApplicationLoader;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.inject.spi.CDI;

/**
 * The limiter of the application that sends a call, with the plug-in for outgoing calls. CDI uses the archive of its caller, which is that
 * of this class.
 */
record CurrentWeir(ClientPlugin plugin, CallSuspension suspension) {
    /** Finds the limiter, also if the context class loader of the server does not see the application. */
    static CurrentWeir find() {
        return ApplicationLoader.call(
                CurrentWeir.class,
                () -> new CurrentWeir(
                        CDI.current().select(HostedWeir.class).get().plugin(ClientPlugin.class),
                        CDI.current().select(CallSuspension.class).stream()
                                .findFirst()
                                .orElse(CallSuspension.NEVER)));
    }
}
