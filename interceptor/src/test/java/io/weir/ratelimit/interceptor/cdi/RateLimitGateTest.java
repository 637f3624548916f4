// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.control.RequestContextController;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The gate, as the filters and the interceptor use it. */
class RateLimitGateTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.api.limit=5/1h",
        "ratelimit.policies.api.key=ip",
        "ratelimit.policies.user.limit=5/1h",
        "ratelimit.policies.user.key=arg:user",
        "ratelimit.policies.user.count=failure",
        "ratelimit.policies.flood.limit=5/1h",
        "ratelimit.policies.flood.key=ip",
        "ratelimit.policies.flood.paths=/flood/*",
        "ratelimit.policies.flood.phase=early",
        "ratelimit.policies.zone.limit=5/1h",
        "ratelimit.policies.zone.key=ip",
        "ratelimit.policies.zone.paths=/zone/*",
        "ratelimit.bypass.addresses=198.51.100.0/24",
    };

    private final LogCapture log = new LogCapture();
    private final Container container = Container.start(POLICIES, Shop.class);
    private final RateLimitGate gate = container.application().gate();
    private final RateLimiter limiter = container.bean(RateLimiter.class);
    private final RequestContextController scope = container.bean(RequestContextController.class);

    @BeforeEach
    void startRequest() {
        scope.activate();
    }

    @AfterEach
    void stop() {
        scope.deactivate();
        container.close();
        log.close();
    }

    @ApplicationScoped
    public static class Shop {
        @RateLimit("api")
        public void search() {}

        @RateLimit("user")
        public boolean login(@RateLimitKey("user") String user, boolean right) {
            if (!right) {
                throw new IllegalStateException("wrong password");
            }
            return true;
        }

        public void open() {}
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            return Shop.class.getMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private long remaining(String policy) {
        return limiter.peek(policy, io.weir.ratelimit.Identity.address("203.0.113.7"))
                .get(0)
                .remaining();
    }

    @Test
    void aMatchedRequestIsDecidedOnceForItsMethod() {
        FakeHttpCall call = new FakeHttpCall("/search");
        Entry entry = gate.enter(call, Shop.class, method("search"));
        assertThat(entry.isDecided()).isTrue();
        assertThat(entry.decision()).isInstanceOf(Decision.Allowed.class);
        container.bean(Shop.class).search();
        assertThat(remaining("api")).isEqualTo(4);
    }

    @Test
    void theSixthRequestIsRejected() {
        for (int i = 0; i < 5; i++) {
            assertThat(gate.enter(new FakeHttpCall("/zone/a"), Shop.class, method("open"))
                            .decision()
                            .allowed())
                    .isTrue();
            scope.deactivate();
            scope.activate();
        }
        Entry rejected = gate.enter(new FakeHttpCall("/zone/a"), Shop.class, method("open"));
        assertThat(rejected.decision()).isInstanceOf(Decision.Rejected.class);
        assertThat(rejected.binding().endpoint()).isEqualTo("/zone/*");
    }

    @Test
    void aMethodWithoutPoliciesIsOpen() {
        FakeHttpCall call = new FakeHttpCall("/open");
        assertThat(gate.enter(call, Shop.class, method("open"))).isSameAs(Entry.OPEN);
        assertThat(gate.enterEarly(new FakeHttpCall("/open"))).isSameAs(Entry.OPEN);
        assertThat(call.attachedState())
                .as("the response filter leaves with it")
                .isNotNull();
    }

    @Test
    void anEarlyRequestAndItsMatchShareOneState() {
        FakeHttpCall early = new FakeHttpCall("/flood/a");
        assertThat(gate.enterEarly(early).isDecided()).isTrue();
        FakeHttpCall matched = new FakeHttpCall("/flood/a");
        gate.enter(matched, Shop.class, method("search"));
        assertThat(matched.attachedState()).isSameAs(early.attachedState());
        assertThat(matched.attachedState().quotas().all()).hasSize(2);
    }

    @Test
    void aPreflightRequestIsOpen() {
        FakeHttpCall call = new FakeHttpCall("/flood/a").asPreflight();
        assertThat(gate.enterEarly(call)).isSameAs(Entry.OPEN);
        assertThat(gate.enter(call, Shop.class, method("search"))).isSameAs(Entry.OPEN);
        container.bean(Shop.class).search();
        assertThat(remaining("api")).isEqualTo(5);
    }

    @Test
    void aBypassingCallerIsOpenAtEveryEntry() {
        FakeHttpCall call = new FakeHttpCall("/flood/a").from("198.51.100.9");
        assertThat(gate.enterEarly(call)).isSameAs(Entry.OPEN);
        assertThat(gate.enter(call, Shop.class, method("search"))).isSameAs(Entry.OPEN);
        container.bean(Shop.class).search();
        assertThat(call.attachedState().quotas().last()).isEmpty();
    }

    @Test
    void aKeyWithAnArgumentIsDecidedByTheInterceptorAndSettledWithTheResponse() {
        FakeHttpCall call = new FakeHttpCall("/login");
        assertThat(gate.enter(call, Shop.class, method("login", String.class, boolean.class)))
                .isSameAs(Entry.OPEN);
        RequestState request = call.attachedState();
        assertThat(request.pending()).isPresent();
        container.bean(Shop.class).login("alice", true);
        assertThat(request.pending()).isEmpty();
        assertThat(remainingOf("alice")).as("not before the response").isEqualTo(4);
        gate.leave(request, true);
        assertThat(remainingOf("alice")).isEqualTo(5);
        assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-304"));
    }

    private long remainingOf(String user) {
        return limiter.peek("user", io.weir.ratelimit.Identity.argument("user", user))
                .get(0)
                .remaining();
    }

    @Test
    void aBeanCallOutsideOfARequestIsSettledOnReturn() {
        scope.deactivate();
        try {
            container.bean(Shop.class).login("alice", true);
            assertThat(remainingOf("alice")).isEqualTo(5);
            assertThatThrownBy(() -> container.bean(Shop.class).login("alice", false))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(remainingOf("alice")).isEqualTo(4);
        } finally {
            scope.activate();
        }
    }

    @Test
    void aDeferredDecisionWithoutAnInterceptorIsLoggedOnce() {
        for (int i = 0; i < 2; i++) {
            FakeHttpCall call = new FakeHttpCall("/login");
            gate.enter(call, Shop.class, method("login", String.class, boolean.class));
            gate.leave(call.attachedState(), false);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-304"))
                    .hasSize(i);
            gate.leave(call.attachedState(), true);
            gate.leave(call.attachedState(), true);
            scope.deactivate();
            scope.activate();
        }
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-304 Shop.login ran"))
                .hasSize(1);
    }

    @Test
    void aBeanCallOnAnotherThreadBelongsToNoRequest() throws Exception {
        gate.enter(new FakeHttpCall("/search"), Shop.class, method("search"));
        CompletableFuture.runAsync(() -> container.bean(Shop.class).search()).get(10, TimeUnit.SECONDS);
        assertThat(limiter.peek("api", io.weir.ratelimit.Identity.ANONYMOUS)
                        .get(0)
                        .remaining())
                .isEqualTo(4);
    }

    @Test
    void aRejectedBeanCallThrows() {
        for (int i = 0; i < 5; i++) {
            container.bean(Shop.class).search();
            scope.deactivate();
            scope.activate();
        }
        assertThatThrownBy(() -> container.bean(Shop.class).search()).isInstanceOf(RateLimitExceededException.class);
    }
}
