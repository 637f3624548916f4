// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.spi.DecisionEvent;

/** A listener that sets the attributes of the current span. If a span has several decisions, it shows the last one. */
record SpanAttributes(KeyMasker keys) implements Telemetry.Spans {
    private static final AttributeKey<String> POLICY = AttributeKey.stringKey("ratelimit.policy");
    private static final AttributeKey<String> DIRECTION = AttributeKey.stringKey("ratelimit.direction");
    private static final AttributeKey<Boolean> ALLOWED = AttributeKey.booleanKey("ratelimit.allowed");
    private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
    private static final AttributeKey<Long> LIMIT = AttributeKey.longKey("ratelimit.limit");
    private static final AttributeKey<Long> COST = AttributeKey.longKey("ratelimit.cost");
    private static final AttributeKey<Boolean> DEGRADED = AttributeKey.booleanKey("ratelimit.degraded");
    private static final AttributeKey<String> KEY = AttributeKey.stringKey("ratelimit.key");

    @Override
    public boolean hasCurrentSpan() {
        return Span.current().getSpanContext().isValid();
    }

    @Override
    public boolean needs(Decision decision) {
        return Span.current().isRecording();
    }

    @Override
    public void onDecision(DecisionEvent event) {
        Span span = Span.current();
        if (!span.isRecording()) {
            return;
        }
        Attributes shown = Attributes.of(event);
        span.setAttribute(POLICY, shown.policy());
        span.setAttribute(DIRECTION, shown.direction());
        span.setAttribute(ALLOWED, shown.allowed());
        span.setAttribute(COST, shown.cost());
        span.setAttribute(DEGRADED, shown.degraded());
        span.setAttribute(KEY, keys.of(shown.storedKey()));
        Quota quota = shown.quota();
        if (quota != null) {
            span.setAttribute(REMAINING, quota.remaining());
            span.setAttribute(LIMIT, quota.permits());
        }
    }
}
