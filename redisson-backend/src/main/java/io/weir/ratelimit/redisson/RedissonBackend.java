// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.redisson.client.ClientVersion;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisProperties;
import io.weir.ratelimit.redisson.client.ServerCheck;
import io.weir.ratelimit.redisson.client.ServerProperties;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import io.weir.ratelimit.spi.SettlesCharges;
import io.weir.ratelimit.spi.TimeSource;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

/**
 * The Redis backend. Each decision is one call of a script, by Redis's clock, over all limits at once. A call waits until the deadline at
 * most, whatever the client does, and is never sent twice.
 *
 * <p>A CDI bean that reads the properties {@code ratelimit.redis.*}. If neither an address nor a configuration is set, it uses the
 * {@link RedissonClient} bean of the application. It applies its own settings to scripts, and never closes that client.
 */
@ApplicationScoped
public class RedissonBackend
        implements RateLimitBackend, SettlesCharges, HoldsSlots, BlocksKeys, RemembersRejections, AutoCloseable {
    private final ConfiguredRedis configured;
    private BackendListener listener = (requests, waitingKeys) -> {};
    private volatile @Nullable ConnectedRedis connected;

    /** Creates a proxy of the container. */
    protected RedissonBackend() {
        this(new ServerProperties());
    }

    /** Creates a backend of plain Java that {@link #start} connects as properties configure; one that is not set is empty. */
    RedissonBackend(RedisProperties properties) {
        this.configured = new ConfiguredRedis(properties, null, null);
    }

    /**
     * Creates a backend that {@link #start} connects as configured.
     *
     * @param applicationClient the client of the application, if it has one
     * @param guard the breaker of the platform
     */
    @Inject
    public RedissonBackend(Instance<RedissonClient> applicationClient, RedisGuard guard) {
        this.configured = new ConfiguredRedis(new ServerProperties(), applicationClient, guard);
    }

    /**
     * Creates a backend on a client, which it does not close, and connects in the background. Its breaker opens after five failed
     * calls to Redis in a row, until one of the probes, one per second, succeeds.
     *
     * @param namespace separates applications that share a Redis: 1 to 64 characters of {@code A-Z a-z 0-9 . _ -}
     * @param deadline the longest wait of a call
     */
    public RedissonBackend(RedissonClient client, String namespace, Duration deadline) {
        this(
                new RedisClient(() -> client, false, namespace, deadline, new ServerCheck(namespace)),
                namespace,
                deadline,
                ScriptSender.REDIS_CLOCK,
                new Breaker(
                        BreakerSettings.DEFAULT,
                        Breaker.Platform.NONE,
                        System::nanoTime,
                        (requests, waitingKeys) -> {}));
    }

    /** Creates a backend without a breaker. */
    RedissonBackend(RedisClient redis, String namespace, Duration deadline, TimeSource time) {
        this(redis, namespace, deadline, time, Breaker.disabled());
    }

    RedissonBackend(RedisClient redis, String namespace, Duration deadline, TimeSource time, Breaker breaker) {
        this(redis, namespace, deadline, time, breaker, Timer.PLATFORM);
    }

    /** Creates a backend. */
    RedissonBackend(
            RedisClient redis, String namespace, Duration deadline, TimeSource time, Breaker breaker, Timer timer) {
        this.configured = new ConfiguredRedis(new ServerProperties(), null, null);
        this.connected = ConnectedRedis.of(redis, namespace, deadline, time, breaker, timer, listener);
    }

    @Override
    public String name() {
        return "redisson";
    }

    @Override
    public boolean isConfigured() {
        return connected != null || configured.isConfigured();
    }

    @Override
    public List<ConfigurationProblem> validateConfiguration() {
        Optional<ConfigurationProblem> unsupported = ClientVersion.problem();
        if (unsupported.isPresent()) {
            return List.of(unsupported.get());
        }
        return connected == null ? configured.problems() : List.of();
    }

    @Override
    public void registerListener(BackendListener newListener) {
        listener = newListener;
    }

    @Override
    public RateLimitBackend.Status status() {
        ConnectedRedis running = connected;
        return running == null
                ? new RateLimitBackend.Status(false, false, Duration.ZERO)
                : running.backend().status();
    }

    @Override
    public void start() {
        if (connected == null) {
            connected = configured.connect(listener);
        }
    }

    /** Refunds leased permits, and closes the client unless it is the application's. */
    @PreDestroy
    @Override
    public void close() {
        ConnectedRedis running = connected;
        if (running != null) {
            running.backend().close();
        }
    }

    /** Returns a capability of this backend, or one of the stores that instances share. */
    @Override
    public <C> Optional<C> capability(Class<C> type) {
        ConnectedRedis running = connected;
        if (type == FleetStore.class) {
            return running == null ? Optional.empty() : Optional.of(type.cast(running.fleet()));
        } else if (type == ChangeStore.class) {
            return running == null ? Optional.empty() : Optional.of(type.cast(running.changes()));
        } else if (type == FleetStore.Presence.class) {
            FleetStore.Presence presence =
                    this::present; // also before the start, because the failure modes exist before it
            return Optional.of(type.cast(presence));
        }
        return RateLimitBackend.super.capability(type);
    }

    private CompletionStage<Integer> present(String instance) {
        try {
            return started().fleet().present(instance);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private ConnectedRedis started() {
        ConnectedRedis running = connected;
        if (running == null) {
            throw new BackendException(Reason.NOT_READY, "The backend is not started.", null);
        }
        return running;
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return started().backend().acquire(charges);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return started().backend().acquireAsync(charges);
    }

    @Override
    public Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        ConnectedRedis running = connected;
        return running == null ? Optional.empty() : running.backend().store().knownRejection(charges);
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        return started().backend().store().peek(charges);
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        return Optional.empty(); // Redis is never full for new keys only
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        return receipt instanceof BackendReceipt spent
                ? staged(backend -> backend.refund(spent))
                : CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return receipt instanceof BackendReceipt spent
                ? staged(backend -> backend.settle(spent, selection, actualCost))
                : CompletableFuture.completedStage(List.of());
    }

    @Override
    public boolean supports(Limit limit) {
        return true;
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return receipt instanceof BackendReceipt held
                ? staged(backend -> backend.store().slots().release(held))
                : CompletableFuture.completedStage(true);
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return staged(backend -> backend.store().slots().renew(receipts));
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        return staged(backend -> backend.refund(charge));
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        // The state of a key is one value, whatever the limits are.
        started().backend().reset(RedisBlocks.keysOf(new Charge(limits.get(0), storedKey, 1)));
    }

    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        return staged(backend -> new RedisBlocks(backend).block(policy, storedKey, duration));
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        return staged(backend -> new RedisBlocks(backend).unblock(policy, storedKey));
    }

    @Override
    public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return staged(backend -> new RedisBlocks(backend).countRejections(policy, storedKey, rejections, rule));
    }

    /** Takes a step that nobody awaits on this thread. A failure before the step has a stage becomes that of the stage. */
    private <T> CompletionStage<T> staged(Function<LeasingBackend, CompletionStage<T>> step) {
        try {
            return step.apply(started().backend());
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }
}
