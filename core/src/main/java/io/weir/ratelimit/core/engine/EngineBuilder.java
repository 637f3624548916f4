// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.Optional;

/** A builder of an engine. What is not set has no effect: no listener, no limits of single keys, no events. */
public final class EngineBuilder {
    final FallbackBackend backend;
    IdentityEncoder encoder = new IdentityEncoder(Optional.empty());
    List<DecisionListener> listeners = List.of();
    Sleeper clock = Sleeper.REAL;
    Overrides overrides = Overrides.NONE;
    TopKeysTracker topKeys = TopKeysTracker.NONE;
    QuotaThresholds thresholds = QuotaThresholds.NONE;
    RejectionListener rejections = RejectionListener.NONE;
    WaitBulkhead threads = WaitBulkhead.ofThreads();
    WaitBulkhead withoutThreads = WaitBulkhead.withoutThreads();

    EngineBuilder(FallbackBackend backend) {
        this.backend = backend;
    }

    /** Sets the encoder of keys; by default, it has no secret. */
    public EngineBuilder encoder(IdentityEncoder next) {
        encoder = next;
        return this;
    }

    /** Sets the listeners, which receive each decision. */
    public EngineBuilder listeners(List<DecisionListener> next) {
        listeners = List.copyOf(next);
        return this;
    }

    /** Sets the clock of calls that wait. */
    public EngineBuilder clock(Sleeper next) {
        clock = next;
        return this;
    }

    /** Sets the limits of single keys. */
    public EngineBuilder overrides(Overrides next) {
        overrides = next;
        return this;
    }

    /** Sets the counter of the keys of decisions. */
    public EngineBuilder topKeys(TopKeysTracker next) {
        topKeys = next;
        return this;
    }

    /** Sets the part that reports the used shares of limits. */
    public EngineBuilder thresholds(QuotaThresholds next) {
        thresholds = next;
        return this;
    }

    /** Sets the part that follows rejections. */
    public EngineBuilder rejections(RejectionListener next) {
        rejections = next;
        return this;
    }

    /** Sets the bounds on waiting calls. */
    EngineBuilder bounds(WaitBulkhead ofThreads, WaitBulkhead ofOthers) {
        threads = ofThreads;
        withoutThreads = ofOthers;
        return this;
    }

    public RateLimitEngine build() {
        return new RateLimitEngine(this);
    }
}
