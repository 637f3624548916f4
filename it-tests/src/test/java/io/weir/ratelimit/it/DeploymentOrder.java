// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

/**
 * The order of applications on one server. Open Liberty (26.0.0.3) asks the authentication mechanism of an application that it has
 * stopped about the requests of the next one under the same context root, and answers 403 if that has none.
 */
final class DeploymentOrder {
    /** Of applications without a mechanism of their own, which come before the others. */
    static final int WITHOUT_MECHANISM = 1;

    private DeploymentOrder() {}
}
