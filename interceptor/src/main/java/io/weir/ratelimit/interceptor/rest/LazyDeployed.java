// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import org.jspecify.annotations.Nullable;

/** Finds what is deployed with the first request: a server may make providers before the deployment has ended. */
final class LazyDeployed {
    private volatile @Nullable Deployed found;

    Deployed get() {
        Deployed known = found;
        if (known == null) {
            known = Deployed.find();
            found = known;
        }
        return known;
    }
}
