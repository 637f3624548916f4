// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.redisson.client.AddressProperty;
import io.weir.ratelimit.redisson.client.ClientVersion;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.client.RedisProperties;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.redisson.client.ServerCheck;
import io.weir.ratelimit.redisson.client.ServerProperties;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.BlockCall;
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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
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
    private final @Nullable Instance<RedissonClient> applicationClient;
    private final @Nullable RedisGuard guard;
    private final RedisProperties properties;
    private @Nullable RedisSettings settings;
    private BreakerSettings breakerSettings = BreakerSettings.DEFAULT;
    private BackendListener listener = (requests, waitingKeys) -> {};
    private volatile @Nullable LeasingBackend started;
    private volatile @Nullable FleetStore fleet;
    private volatile @Nullable ChangeStore changes;

    /** Creates a proxy of the container. */
    protected RedissonBackend() {
        this.applicationClient = null;
        this.guard = null;
        this.properties = new ServerProperties();
    }

    /**
     * Creates a backend of plain Java that {@link #start} connects as configured.
     *
     * @param properties returns the value of a property, empty if it is not set
     */
    RedissonBackend(RedisProperties properties) {
        this.applicationClient = null;
        this.guard = null;
        this.properties = properties;
    }

    /**
     * Creates a backend that {@link #start} connects as configured.
     *
     * @param applicationClient the client of the application, if it has one
     * @param guard the breaker of the platform
     */
    @Inject
    public RedissonBackend(Instance<RedissonClient> applicationClient, RedisGuard guard) {
        this.applicationClient = applicationClient;
        this.guard = guard;
        this.properties = new ServerProperties();
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
        this.applicationClient = null;
        this.guard = null;
        this.properties = new ServerProperties();
        this.started = connected(redis, namespace, deadline, time, breaker, timer);
    }

    private LeasingBackend connected(
            RedisClient redis, String namespace, Duration deadline, TimeSource time, Breaker breaker, Timer timer) {
        RedisKeys keys = RedisKeys.of(namespace);
        boolean redisClock = time == ScriptSender.REDIS_CLOCK;
        RejectionCache cache = redisClock ? new RejectionCache(keys) : RejectionCache.disabled(keys);
        FleetCalls calls = new FleetCalls(redis, deadline, breaker);
        fleet = new RedisFleetStore(calls, namespace);
        changes = new RedisChangeStore(calls, namespace);
        RedisStore store = new RedisStore(redis, keys, deadline, time, cache, listener, breaker, timer);
        return new LeasingBackend(store, keys, cache, listener, redisClock, timer);
    }

    @Override
    public String name() {
        return "redisson";
    }

    @Override
    public boolean isConfigured() {
        return started != null
                || AddressProperty.of(properties).isPresent()
                || properties.get(RedisSettings.CONFIG).isPresent()
                || hasApplicationClient();
    }

    private boolean hasApplicationClient() {
        return applicationClient != null && (applicationClient.isResolvable() || applicationClient.isAmbiguous());
    }

    @Override
    public List<ConfigurationProblem> validateConfiguration() {
        Optional<ConfigurationProblem> unsupported = ClientVersion.problem();
        if (unsupported.isPresent()) {
            return List.of(unsupported.get());
        }
        if (started != null) {
            return List.of();
        }
        List<ConfigurationProblem> problems = new ArrayList<>(settings().problems());
        breakerSettings = BreakerSettings.read(properties, problems);
        if (settings().client().isEmpty() && applicationClient != null && applicationClient.isAmbiguous()) {
            problems.add(MESSAGES.problem("WEIR-409", "RedissonClient", "", RedisSettings.ADDRESS));
        }
        return problems;
    }

    private RedisSettings settings() {
        RedisSettings read = settings;
        if (read == null) {
            read = RedisSettings.read(properties, hasApplicationClient());
            settings = read;
        }
        return read;
    }

    @Override
    public void registerListener(BackendListener newListener) {
        listener = newListener;
    }

    @Override
    public RateLimitBackend.Status status() {
        LeasingBackend running = started;
        return running == null ? new RateLimitBackend.Status(false, false, Duration.ZERO) : running.status();
    }

    @Override
    public void start() {
        if (started != null) {
            return;
        }
        RedisSettings read = settings();
        // Creating the application's client may connect it, which must happen in the background as well.
        ServerCheck check = new ServerCheck(read.namespace());
        RedisClient redis = read.client()
                .map(config ->
                        new RedisClient(() -> Redisson.create(config), true, read.namespace(), read.deadline(), check))
                .orElseGet(() -> new RedisClient(
                        Objects.requireNonNull(applicationClient)::get,
                        false,
                        read.namespace(),
                        read.deadline(),
                        check));
        Breaker.Platform platform = guard == null ? Breaker.Platform.NONE : Breaker.Platform.of(guard);
        started = connected(
                redis,
                read.namespace(),
                read.deadline(),
                ScriptSender.REDIS_CLOCK,
                new Breaker(breakerSettings, platform, System::nanoTime, listener),
                Timer.PLATFORM);
    }

    /** Refunds leased permits, and closes the client unless it is the application's. */
    @PreDestroy
    @Override
    public void close() {
        LeasingBackend running = started;
        if (running != null) {
            running.close();
        }
    }

    /** Returns a capability of this backend, or one of the stores that instances share. */
    @Override
    public <C> Optional<C> capability(Class<C> type) {
        if (type == FleetStore.class) {
            return Optional.ofNullable(fleet).map(type::cast);
        }
        return type == ChangeStore.class
                ? Optional.ofNullable(changes).map(type::cast)
                : RateLimitBackend.super.capability(type);
    }

    private LeasingBackend started() {
        LeasingBackend running = started;
        if (running == null) {
            throw new BackendException(Reason.NOT_READY, "The backend is not started.", null);
        }
        return running;
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return started().acquire(charges);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return started().acquireAsync(charges);
    }

    @Override
    public Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        LeasingBackend running = started;
        return running == null ? Optional.empty() : running.knownRejection(charges);
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        return started().peek(charges);
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        return Optional.empty(); // Redis is never full for new keys only
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        try {
            return receipt instanceof BackendReceipt spent
                    ? started().refund(spent)
                    : CompletableFuture.completedStage(null);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        try {
            return receipt instanceof BackendReceipt spent
                    ? started().settle(spent, selection, actualCost)
                    : CompletableFuture.completedStage(List.of());
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public boolean supports(Limit limit) {
        return true;
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return receipt instanceof BackendReceipt held
                ? started().slots().release(held)
                : CompletableFuture.completedStage(true);
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        List<BackendReceipt> held = new ArrayList<>(receipts.size());
        for (Receipt receipt : receipts) {
            if (receipt instanceof BackendReceipt known) {
                held.add(known);
            }
        }
        return started().slots().renew(held);
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        try {
            return started().refund(charge);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        // The state of a key is one value, whatever the limits are.
        started().reset(new Charge(limits.get(0), storedKey, 1));
    }

    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        BlockCall call = BlockCall.block(new Charge(policy, storedKey, 1), StoredStates.blockMicros(duration));
        try {
            return started().block(call).thenApply(result -> Duration.of(result.leftMicros(), ChronoUnit.MICROS));
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        try {
            return started()
                    .unblock(BlockCall.unblock(new Charge(policy, storedKey, 1)))
                    .thenAccept(result -> {});
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        try {
            return started()
                    .count(BlockCall.count(new Charge(policy, storedKey, 1), rejections, rule))
                    .thenApply(result -> result.penalty() == 0
                            ? Optional.empty()
                            : Optional.of(new BlocksKeys.Penalty(
                                    Duration.of(result.leftMicros(), ChronoUnit.MICROS), result.penalty())));
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }
}
