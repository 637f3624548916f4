// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A bean that no server can create. Top-level, because Weld leaves out a nested class whose outer class is not deployed. */
@ApplicationScoped
class Unsatisfied {
    @Inject
    Runnable missing;
}
