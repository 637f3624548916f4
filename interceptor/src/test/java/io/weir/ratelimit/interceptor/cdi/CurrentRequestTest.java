// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.control.RequestContextController;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CurrentRequestTest {
    private static final String[] FAILURES = {
        "ratelimit.policies.failures.limit=9/1h",
        "ratelimit.policies.failures.key=global",
        "ratelimit.policies.failures.count=failure",
        "ratelimit.policies.failures.paths=/*",
    };

    /** Runs a request, and returns the permits that remain afterwards. */
    private static long remainingAfter(Optional<Boolean> outcome) {
        try (Container container = Container.start(FAILURES)) {
            RequestContextController scope = container.bean(RequestContextController.class);
            RateLimitGate gate = container.application().gate();
            scope.activate();
            FakeHttpCall call = new FakeHttpCall("/search");
            assertThat(gate.enter(call, String.class, FakeHttpCall.METHOD).isDecided())
                    .isTrue();
            RequestState request = gate.current().orElseThrow();
            assertThat(request).isSameAs(call.attachedState());
            outcome.ifPresent(succeeded -> gate.leave(request, succeeded));
            scope.deactivate();
            return container
                    .bean(RateLimiter.class)
                    .peek("failures", io.weir.ratelimit.Identity.GLOBAL)
                    .get(0)
                    .remaining();
        }
    }

    @Test
    void aRequestWithoutAResponseHasFailed() {
        assertThat(remainingAfter(Optional.empty())).isEqualTo(8);
    }

    @Test
    void aRequestIsSettledOnce() {
        assertThat(remainingAfter(Optional.of(true))).isEqualTo(9);
        assertThat(remainingAfter(Optional.of(false))).isEqualTo(8);
    }

    @Test
    void aRequestWithoutAnEntryEndsWithoutAnEffect() {
        new CurrentRequest().end();
        assertThat(new CurrentRequest().state()).isNull();
    }

    @Test
    void thereIsNoStateOutsideOfARequest() {
        try (Container container = Container.start(FAILURES)) {
            assertThat(container.application().gate().current()).isEmpty();
            container.inRequest(
                    CallContext.NONE,
                    () -> assertThat(container.application().gate().current()).isPresent());
        }
    }
}
