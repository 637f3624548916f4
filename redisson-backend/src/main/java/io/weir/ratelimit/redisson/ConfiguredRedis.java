// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.redisson.client.AddressProperty;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisProperties;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.redisson.client.ServerCheck;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.enterprise.inject.Instance;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/** Redis as an application configures it: by properties, or by a client of its own. */
final class ConfiguredRedis {
    private final RedisProperties properties;
    private final @Nullable Instance<RedissonClient> applicationClient;
    private final @Nullable RedisGuard guard;
    private @Nullable RedisSettings settings;
    private BreakerSettings breakerSettings = BreakerSettings.DEFAULT;

    /** Creates a configuration that is not read yet. The client of the application and the breaker are null outside of a container. */
    ConfiguredRedis(
            RedisProperties properties,
            @Nullable Instance<RedissonClient> applicationClient,
            @Nullable RedisGuard guard) {
        this.properties = properties;
        this.applicationClient = applicationClient;
        this.guard = guard;
    }

    boolean isConfigured() {
        return AddressProperty.of(properties).isPresent()
                || properties.get(RedisSettings.CONFIG).isPresent()
                || hasApplicationClient();
    }

    private boolean hasApplicationClient() {
        return applicationClient != null && (applicationClient.isResolvable() || applicationClient.isAmbiguous());
    }

    List<ConfigurationProblem> problems() {
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

    /** Connects in the background: creating the application's client may connect it as well. */
    ConnectedRedis connect(BackendListener listener) {
        RedisSettings read = settings();
        boolean owned = read.client().isPresent();
        Supplier<RedissonClient> client =
                owned ? () -> Redisson.create(read.client().get()) : Objects.requireNonNull(applicationClient)::get;
        ServerCheck check = new ServerCheck(read.namespace());
        Breaker.Platform platform = guard == null ? Breaker.Platform.NONE : Breaker.Platform.of(guard);
        return ConnectedRedis.of(
                new RedisClient(client, owned, read.namespace(), read.deadline(), check),
                read.namespace(),
                read.deadline(),
                ScriptSender.REDIS_CLOCK,
                new Breaker(breakerSettings, platform, System::nanoTime, listener),
                Timer.PLATFORM,
                listener);
    }
}
