// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import io.weir.ratelimit.runtime.ApplicationLoader;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.inject.spi.CDI;

/** The limiter of the application that sends a call. CDI uses the archive of its caller, which is that of this class. */
final class CurrentWeir {
    private CurrentWeir() {}

    /** Returns the limiter, also if the context class loader of the server does not see the application. */
    static HostedWeir find() {
        return ApplicationLoader.call(
                CurrentWeir.class, () -> CDI.current().select(HostedWeir.class).get());
    }
}
