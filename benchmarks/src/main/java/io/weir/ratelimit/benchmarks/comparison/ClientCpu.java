// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The processor time of this process: of the callers and their measurement, of the limiter, its client, the compiler and the collector. */
final class ClientCpu {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private ClientCpu() {}

    /** Returns the processor time until now in microseconds. */
    static double micros() {
        return SYSTEM.getProcessCpuTime() / 1e3;
    }
}
