// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports of the loopback for nodes of a cluster, which talk to each other on a second port, 10,000 higher. */
final class TestPorts {
    private static final int ABOVE = 10_000;

    // Both lie below those that Linux gives to outgoing connections, which would come and go meanwhile.
    private static final int FIRST = 11_000;
    private static final int LAST = 22_000;

    private TestPorts() {}

    /** A port that is free now, as is the one for the other nodes. */
    static int ofNode() {
        for (int attempt = 0; attempt < 1_000; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (free(port) && free(port + ABOVE)) {
                return port;
            }
        }
        throw new AssertionError("no free ports for a node of a cluster");
    }

    private static boolean free(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
