// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/**
 * The shared store: each decision is one call of one script on Redis, on Redis's clock, over all limits at once. A call waits at
 * most for the deadline, whatever the client does, and is never sent twice.
 *
 * <p>A bean that reads {@code ratelimit.redis.*}. Where neither an address nor a configuration is given, it uses the
 * {@link RedissonClient} bean of the application, with its own settings for scripts and without ever closing it.
 */
@ApplicationScoped
public class RedissonBackend implements RateLimitBackend {
    private final @Nullable Instance<RedissonClient> ownClient;
    private final @Nullable RedisGuard guard;
    private @Nullable RedisSettings settings;
    private BreakerSettings breaker = BreakerSettings.DEFAULT;
    private BackendListener listener = (checks, keysWaiting) -> {};
    private volatile @Nullable LeasingStore started;

    /** For the container's proxies. */
    protected RedissonBackend() {
        this.ownClient = null;
        this.guard = null;
    }

    /**
     * A store that {@link #start} connects as configured.
     *
     * @param ownClient the application's client, if it produces one
     * @param guard the server's breaker
     */
    @Inject
    public RedissonBackend(Instance<RedissonClient> ownClient, RedisGuard guard) {
        this.ownClient = ownClient;
        this.guard = guard;
    }

    /**
     * A store on a client, which it does not close. Connects at once, in the background. Its breaker opens for 30 seconds after
     * five calls to Redis that fail in a row.
     *
     * @param client the client
     * @param namespace separates applications that share a Redis: 1 to 64 characters of {@code A-Z a-z 0-9 . _ -}
     * @param deadline the longest that a call waits
     */
    public RedissonBackend(RedissonClient client, String namespace, Duration deadline) {
        this(
                new RedisClient(() -> client, false, namespace, deadline),
                namespace,
                deadline,
                RedisStore.REDIS_CLOCK,
                new Breaker(
                        BreakerSettings.DEFAULT, Breaker.Platform.NONE, System::nanoTime, (checks, keysWaiting) -> {}));
    }

    /** A store without a breaker. */
    RedissonBackend(RedisClient redis, String namespace, Duration deadline, TimeSource time) {
        this(redis, namespace, deadline, time, Breaker.never());
    }

    RedissonBackend(RedisClient redis, String namespace, Duration deadline, TimeSource time, Breaker breaker) {
        this.ownClient = null;
        this.guard = null;
        this.started = leasing(redis, namespace, deadline, time, breaker);
    }

    private LeasingStore leasing(
            RedisClient redis, String namespace, Duration deadline, TimeSource time, Breaker opens) {
        return new LeasingStore(
                new RedisStore(redis, namespace, deadline, time, listener, opens),
                StoredKeys.of(namespace),
                listener,
                time == RedisStore.REDIS_CLOCK);
    }

    @Override
    public String name() {
        return "redisson";
    }

    @Override
    public boolean configured() {
        Config config = ConfigProvider.getConfig();
        return config.getOptionalValue(RedisSettings.ADDRESS, String.class).isPresent()
                || config.getOptionalValue(RedisSettings.CONFIG, String.class).isPresent()
                || hasOwnClient();
    }

    private boolean hasOwnClient() {
        return ownClient != null && (ownClient.isResolvable() || ownClient.isAmbiguous());
    }

    @Override
    public List<ConfigurationProblem> problems() {
        List<ConfigurationProblem> problems = new ArrayList<>(settings().problems());
        breaker = BreakerSettings.read(ConfigProvider.getConfig(), problems);
        if (settings().client().isEmpty() && ownClient != null && ownClient.isAmbiguous()) {
            problems.add(new ConfigurationProblem(
                    "WEIR-409",
                    "RedissonClient",
                    "",
                    "the application has several beans of this type",
                    "set " + RedisSettings.ADDRESS + ", or ratelimit.backend=local"));
        }
        return problems;
    }

    private RedisSettings settings() {
        RedisSettings read = settings;
        if (read == null) {
            read = RedisSettings.read(ConfigProvider.getConfig(), hasOwnClient());
            settings = read;
        }
        return read;
    }

    @Override
    public void listen(BackendListener told) {
        listener = told;
    }

    @Override
    public BackendStatus status() {
        LeasingStore running = started;
        return running == null ? new BackendStatus(false, false, Duration.ZERO) : running.status();
    }

    @Override
    public void start() {
        RedisSettings read = settings();
        // An application's client may be made by connecting, which must happen in the background as well.
        RedisClient redis = read.client()
                .map(config -> new RedisClient(() -> Redisson.create(config), true, read.namespace(), read.deadline()))
                .orElseGet(() -> new RedisClient(
                        Objects.requireNonNull(ownClient)::get, false, read.namespace(), read.deadline()));
        Breaker.Platform platform = guard == null ? Breaker.Platform.NONE : Breaker.Platform.of(guard);
        started = leasing(
                redis,
                read.namespace(),
                read.deadline(),
                RedisStore.REDIS_CLOCK,
                new Breaker(breaker, platform, System::nanoTime, listener));
    }

    /** Ends the connections, of an own client only. */
    @PreDestroy
    public void close() {
        LeasingStore running = started;
        if (running != null) {
            running.close();
        }
    }

    private LeasingStore started() {
        LeasingStore running = started;
        if (running == null) {
            throw new BackendException(Reason.NOT_READY, "the store is not started", null);
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
    public List<Quota> peek(Charge charge) {
        return started().peek(charge);
    }

    @Override
    public void giveBack(Receipt receipt) {
        if (receipt instanceof BackendReceipt spent) {
            started().giveBack(spent);
        }
    }

    @Override
    public CompletionStage<Void> giveBackAsync(Receipt receipt) {
        try {
            return receipt instanceof BackendReceipt spent
                    ? started().giveBackAsync(spent)
                    : CompletableFuture.completedStage(null);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public void giveBack(Charge charge) {
        started().giveBack(charge);
    }

    @Override
    public void reset(PolicyLimits policy, String identity) {
        started().reset(new Charge(policy, identity, 1));
    }
}
