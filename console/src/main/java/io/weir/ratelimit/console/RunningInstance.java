// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;

/**
 * Whose figures the page shows.
 *
 * @param host the host's name, or its address
 * @param started when the application began
 */
record RunningInstance(String host, Instant started) {
    /** This one. Can ask the network for its name. */
    static RunningInstance since(Instant started) {
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
