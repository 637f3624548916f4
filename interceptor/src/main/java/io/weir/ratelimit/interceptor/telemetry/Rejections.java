// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.function.Consumer;

/** Tells of each refused call with a key that may be shown. An outage is no refusal. */
record Rejections(KeyMasker keys, Consumer<RateLimitRejected> consumer) implements DecisionListener {
    @Override
    public void onDecision(DecisionEvent event) {
        if (event.decision() instanceof Decision.Rejected rejected) {
            consumer.accept(rejection(event, rejected, keys));
        }
    }

    static RateLimitRejected rejection(DecisionEvent event, Decision.Rejected rejected, KeyMasker keys) {
        Verdict verdict = Verdict.of(event);
        return new RateLimitRejected(
                event.endpoint(),
                verdict.charge().policy().policy(),
                keys.of(verdict.charge().storedKey()),
                verdict.charge().cost(),
                rejected);
    }
}
