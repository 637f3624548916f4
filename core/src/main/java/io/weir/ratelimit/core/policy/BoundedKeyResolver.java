// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.policy.ResolverListener.Kind;
import io.weir.ratelimit.core.policy.SourceListener.Failure;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A key resolver of the application with a bound on the request threads that it can hold. It stays on the thread of the request, because it
 * reads the request. If it hangs, its term does not resolve for other calls.
 */
public final class BoundedKeyResolver implements KeyResolver {
    private final String name;
    private final KeyResolver resolver;
    private final LookupTimes times;
    private final ResolverListener listener;
    private final ThreadBound threads;
    private final OutageLog outages;

    /** Creates a resolver. The times contain the longest wait for a hanging resolver, and the clock. */
    public BoundedKeyResolver(String name, KeyResolver resolver, LookupTimes times, ResolverListener listener) {
        this.name = name;
        this.resolver = resolver;
        this.times = times;
        this.listener = listener;
        this.threads = new ThreadBound(times.deadlineNanos());
        this.outages = new OutageLog(times.nanoTime());
    }

    @Override
    @SuppressWarnings("NullAway") // an application can return null, which the caller reports
    public Optional<Identity> resolve(CallContext call) {
        if (!threads.enter()) {
            exhausted();
            return Optional.empty();
        }
        boolean resolved = false;
        try {
            Optional<Identity> key = resolver.resolve(call);
            resolved = key != null;
            return key;
        } finally {
            if (threads.leave()) {
                outages.succeeded(name);
            }
            if (!resolved) {
                listener.failed(Kind.KEY, name, Failure.ERROR);
            }
        }
    }

    private void exhausted() {
        listener.failed(Kind.KEY, name, Failure.BUSY);
        if (outages.failed(name)) {
            long milliseconds = TimeUnit.NANOSECONDS.toMillis(times.deadlineNanos());
            MESSAGES.log("WEIR-305.threads", name, ThreadBound.MAX_THREADS, milliseconds);
        }
    }
}
