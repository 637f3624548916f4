// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

/** The labels on the card of the Dev UI that depend on the configuration. Only development mode has this bean. */
public class DevUiLabels {
    /** Returns the number of policies. */
    public int policies() {
        return WeirRecorder.current().application().weir().policies().policies().size();
    }
}
