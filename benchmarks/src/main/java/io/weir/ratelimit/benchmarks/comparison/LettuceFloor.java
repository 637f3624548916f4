// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.time.Duration;

/** The minimal cost of a script call through Lettuce: {@code return 1} with one key. It allows every call, whatever the workload. */
record LettuceFloor() implements PeerScript {
    @Override
    public String name() {
        return "Lettuce floor";
    }

    @Override
    public String source() {
        return "return 1";
    }

    @Override
    public ScriptOutputType reply() {
        return ScriptOutputType.INTEGER;
    }

    @Override
    public byte[][] arguments(Duration window) {
        return new byte[0][];
    }

    @Override
    public boolean allows(Object reply) {
        return true;
    }
}
