// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;

/** Marks the current span with what was decided. Of several decisions in one span, the last is seen. */
final class SpanAttributes implements DecisionListener, SpanMarks {
    private static final AttributeKey<String> POLICY = AttributeKey.stringKey("ratelimit.policy");
    private static final AttributeKey<Boolean> ALLOWED = AttributeKey.booleanKey("ratelimit.allowed");
    private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
    private static final AttributeKey<Long> LIMIT = AttributeKey.longKey("ratelimit.limit");
    private static final AttributeKey<Long> COST = AttributeKey.longKey("ratelimit.cost");
    private static final AttributeKey<Boolean> DEGRADED = AttributeKey.booleanKey("ratelimit.degraded");
    private static final AttributeKey<String> KEY = AttributeKey.stringKey("ratelimit.key");

    private final KeyMasker keys;

    SpanAttributes(KeyMasker keys) {
        this.keys = keys;
    }

    @Override
    public boolean isSpanHere() {
        return Span.current().getSpanContext().isValid();
    }

    @Override
    public void onDecision(DecisionEvent event) {
        mark(event);
    }

    @Override
    public void mark(DecisionEvent event) {
        Span span = Span.current();
        if (!span.isRecording()) {
            return;
        }
        Verdict verdict = Verdict.of(event);
        span.setAttribute(POLICY, verdict.charge().policy().policy());
        span.setAttribute(ALLOWED, event.decision().allowed());
        span.setAttribute(COST, verdict.charge().cost());
        span.setAttribute(DEGRADED, event.decision() instanceof Decision.Degraded);
        span.setAttribute(KEY, keys.of(verdict.charge().storedKey()));
        Quota quota = verdict.quota();
        if (quota != null) {
            span.setAttribute(REMAINING, quota.remaining());
            span.setAttribute(LIMIT, quota.permits());
        }
    }
}
