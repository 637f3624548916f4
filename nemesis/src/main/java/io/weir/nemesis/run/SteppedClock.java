// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/** The clock of an instance, whose time of day the nemesis can step. Its monotonic clock is that of the machine. */
final class SteppedClock implements Sleeper {
    private volatile long offsetMillis;

    /** Sets the difference from the right time. */
    void step(long millis) {
        offsetMillis = millis;
    }

    @Override
    public long nanos() {
        return REAL.nanos();
    }

    @Override
    public long epochMillis() {
        return REAL.epochMillis() + offsetMillis;
    }

    @Override
    public Instant now() {
        return REAL.now().plusMillis(offsetMillis);
    }

    @Override
    public CompletableFuture<Void> timer(long micros) {
        return REAL.timer(micros);
    }

    /** Returns the environment with this clock. */
    EngineEnvironment environment() {
        return new EngineEnvironment() {
            @Override
            public Sleeper clock() {
                return SteppedClock.this;
            }

            @Override
            public RateLimitBackend local(int maxKeys) {
                return EngineEnvironment.local(maxKeys, SteppedClock.this);
            }
        };
    }
}
