// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.waiting;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;

/** A limited bean of the request scope. */
@RequestScoped
public class Visit {
    /** Returns the class loader of the thread, which finds the application. A request that has paid is not charged again. */
    @RateLimit("fast")
    public String loader() {
        try {
            return Thread.currentThread()
                    .getContextClassLoader()
                    .loadClass(Visit.class.getName())
                    .getSimpleName();
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
