// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;

/**
 * The instance of the application that runs in this process.
 *
 * @param host the host name, or an address
 * @param started the start of the application
 */
record RunningInstance(String host, Instant started) {
    /** Returns this instance. The host name can be resolved over the network. */
    static RunningInstance startedAt(Instant started) {
        return new RunningInstance(localHost(), started);
    }

    private static String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }
}
