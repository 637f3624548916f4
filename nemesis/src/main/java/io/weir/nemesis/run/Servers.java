// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.util.List;
import java.util.Map;

/** The running servers of Redis of a run. */
interface Servers extends AutoCloseable {
    /** Returns the properties by which an instance connects to them. */
    Map<String, String> properties(int instance);

    /** Returns the current masters. */
    List<RedisProcess> masters();

    /** Returns how often they have lost data. */
    default int losses() {
        return 0;
    }

    @Override
    void close();
}
