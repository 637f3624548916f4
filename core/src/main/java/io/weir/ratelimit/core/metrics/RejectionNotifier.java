// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.function.Consumer;

/**
 * A listener that notifies a consumer of each rejected call, with a masked key. Degraded decisions are not rejections.
 */
record RejectionNotifier(KeyMasker keys, Consumer<RateLimitRejected> consumer) implements DecisionListener {
    @Override
    public boolean needs(Decision decision) {
        return decision instanceof Decision.Rejected;
    }

    @Override
    public void onDecision(DecisionEvent event) {
        if (event.decision() instanceof Decision.Rejected rejected) {
            consumer.accept(rejection(event, rejected, keys));
        }
    }

    static RateLimitRejected rejection(DecisionEvent event, Decision.Rejected rejected, KeyMasker keys) {
        DecisiveCharge decisive = DecisiveCharge.of(event);
        return new RateLimitRejected(
                event.endpoint(),
                decisive.charge().policy().policy(),
                keys.of(decisive.charge().storedKey()),
                decisive.charge().cost(),
                rejected);
    }
}
