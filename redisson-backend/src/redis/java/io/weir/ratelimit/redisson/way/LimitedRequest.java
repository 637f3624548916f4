// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.way;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.redisson.RedissonBackendProvider;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.runtime.Requests;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A run of limited requests through the gate. {@link RecordingLoader} loads it. */
public final class LimitedRequest implements Function<Map<String, String>, Set<String>> {
    private static final int BEFORE = 50;

    /** Creates a run. */
    public LimitedRequest() {}

    /** Returns the types that take part in the first request of a caller, after those of another one. */
    @Override
    public Set<String> apply(Map<String, String> properties) {
        ConfigProperties config = ConfigProperties.of(properties);
        RateLimitBackend redis =
                new RedissonBackendProvider().create(name -> config.get(name).value());
        try (HostedWeir weir = HostedWeir.on(new Host(config, redis))) {
            RateLimitGate gate = weir.gate(new NoScope());
            for (int decided = 0; decided < BEFORE; ) {
                // Redis is connected after a time.
                if (request(gate, "203.0.113.7") instanceof Decision.Allowed) {
                    decided++;
                } else {
                    pause();
                }
            }
            return RecordedTypes.during(() -> {
                if (!(request(gate, "203.0.113.8") instanceof Decision.Allowed)) {
                    throw new AssertionError("the backend has not decided");
                }
            });
        }
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Decision request(RateLimitGate gate, String address) {
        FakeHttpCall call = new FakeHttpCall("/api/orders").from(address);
        Entry entry = gate.enter(call, Object.class, method());
        if (!entry.isDecided() || !entry.decision().allowed()) {
            throw new AssertionError("not decided: " + entry);
        }
        RequestState state = call.attachedState();
        if (state == null) {
            throw new AssertionError("no state");
        }
        state.quotas().all().forEach(quota -> quota.remaining());
        gate.leave(state, true);
        state.end();
        return entry.decision();
    }

    private static Method method() {
        try {
            return Object.class.getMethod("hashCode");
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private record Host(ConfigProperties config, RateLimitBackend redis) implements Platform {
        @Override
        public ConfigProperties.Sources properties() {
            return ConfigProperties.Sources.of(config);
        }

        @Override
        public <T> List<T> all(Class<T> type) {
            return type.isInstance(redis) ? List.of(type.cast(redis)) : List.of();
        }

        @Override
        public void closed() {
            try {
                ((AutoCloseable) redis).close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A host that keeps the state with the call only. */
    private static final class NoScope implements Requests {
        @Override
        public RequestState start(CallContext caller, RateLimitGate gate) {
            return new RequestState(caller);
        }

        @Override
        public @Nullable RequestState current(RateLimitGate gate) {
            return null;
        }

        @Override
        public CallContext withoutRequest(@Nullable Object @Nullable [] arguments) {
            return CallContext.NONE;
        }

        @Override
        public boolean hold(RequestState request, Runnable releaser) {
            return request.holdSlots(releaser);
        }
    }
}
