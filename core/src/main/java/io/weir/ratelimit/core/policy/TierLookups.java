// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.policy.ResolverListener.Kind;
import io.weir.ratelimit.core.policy.SourceListener.Failure;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.TierResolver;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A cache of the tiers that one resolver of the application has returned. A slow or failing resolver delays a call at most by the deadline,
 * once for each caller. All policies that name the resolver share the cache, also after a reload.
 */
public final class TierLookups implements TierSelector {
    /** The number of look-ups of one resolver at once: each that hangs holds a thread. */
    static final int MAX_LOOKUPS = 8;

    /** The number of callers in the cache. */
    static final int MAX_CALLERS = 10_000;

    private final String name;
    private final TierResolver resolver;
    private final ThreadBound threads;
    private final LookupContext context;

    /** Shortens long values and hides secrets. The cache does not leave the process, so it needs no secret. */
    private final IdentityEncoder encoder = new IdentityEncoder(Optional.empty());

    /** The callers do the maintenance, because the common pool outlives the application. */
    private final Cache<String, CachedAnswer<Optional<String>>> cache = Caffeine.newBuilder()
            .maximumSize(MAX_CALLERS)
            .executor(Runnable::run)
            .build();

    private final Function<String, CachedAnswer<Optional<String>>> unknown;

    /** Creates an empty cache. The executor of look-ups is read on the thread of the call. */
    public TierLookups(
            String name,
            TierResolver resolver,
            LookupTimes times,
            Supplier<Executor> executor,
            ResolverListener listener) {
        this.name = name;
        this.resolver = resolver;
        this.threads = new ThreadBound(times.deadlineNanos());
        this.context = new LookupContext(
                times,
                MAX_LOOKUPS,
                executor,
                (any, failure) -> listener.failed(Kind.TIER, name, failure),
                (any, caller, reason, thrown) -> MESSAGES.log(thrown, "WEIR-310.look-up", name, reason));
        this.unknown = caller -> new CachedAnswer<>(context, caller, Optional.empty());
    }

    @Override
    public Optional<String> tier(CallContext call) {
        Optional<Identity> caller = caller(call);
        if (caller.isEmpty()) {
            return Optional.empty();
        }
        CachedAnswer<Optional<String>> answer = cache.get(encoder.encode(caller.get()), unknown);
        if (answer.isStale()) {
            answer.refresh(name, () -> lookUp(caller.get()));
        }
        answer.await(name);
        return answer.get();
    }

    @Override
    public boolean callsResolver() {
        return true;
    }

    /** Returns the caller, whom the resolver determines on this thread. */
    private Optional<Identity> caller(CallContext call) {
        if (!threads.enter()) {
            context.failed(name, "", Failure.BUSY, null);
            return Optional.empty();
        }
        try {
            Optional<Identity> caller = resolver.caller(call);
            return caller == null ? Optional.empty() : caller; // an application can return null
        } finally {
            threads.leave();
        }
    }

    private UnaryOperator<Optional<String>> lookUp(Identity caller) {
        Optional<String> tier = resolver.tier(caller);
        if (tier == null) {
            throw new IllegalStateException(resolver.getClass().getName() + " returned null");
        }
        return last -> tier;
    }

    long size() {
        cache.cleanUp();
        return cache.estimatedSize();
    }
}
