// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A bean with an unsatisfied dependency. Not nested, because Weld ignores a nested class without its outer class. */
@ApplicationScoped
class UnsatisfiedBean {
    @Inject
    Runnable missing;
}
