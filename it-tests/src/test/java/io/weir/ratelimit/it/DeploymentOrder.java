// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

/**
 * The order of applications on one server. Open Liberty (26.0.0.3) uses the authentication mechanism of a stopped application for the
 * requests of the next application with the same context root. If that application has no mechanism, the response is 403.
 */
final class DeploymentOrder {
    /** The order of applications without an authentication mechanism, which come first. */
    static final int WITHOUT_MECHANISM = 1;

    private DeploymentOrder() {}
}
