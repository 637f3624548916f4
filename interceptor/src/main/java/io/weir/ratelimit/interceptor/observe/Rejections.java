// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.observe;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.interceptor.key.ShownKeys;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.function.Consumer;

/** Tells of each refused call with a key that may be shown. An outage is no refusal. */
final class Rejections implements DecisionListener {
    private final ShownKeys keys;
    private final List<Consumer<RateLimitRejected>> consumers;

    Rejections(ShownKeys keys, List<Consumer<RateLimitRejected>> consumers) {
        this.keys = keys;
        this.consumers = List.copyOf(consumers);
    }

    @Override
    public void onDecision(DecisionEvent event) {
        if (event.decision() instanceof Decision.Rejected rejected) {
            Verdict verdict = Verdict.of(event);
            RateLimitRejected rejection = new RateLimitRejected(
                    event.endpoint(),
                    verdict.charge().policy().policy(),
                    keys.of(verdict.charge().identity()),
                    verdict.charge().cost(),
                    rejected);
            consumers.forEach(consumer -> consumer.accept(rejection));
        }
    }
}
