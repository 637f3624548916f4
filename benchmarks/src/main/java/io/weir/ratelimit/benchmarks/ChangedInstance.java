// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.operations.changes.ChangeAudit;
import io.weir.ratelimit.operations.changes.ChangeCodec;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.ChangeTarget;
import io.weir.ratelimit.operations.changes.ChangedProperties;
import io.weir.ratelimit.operations.changes.InstanceChanges;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.PolicyValues;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.StoredChanges;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** An instance whose runtime changes are on Redis. Its decisions are in process. Change n sets a limit of n + 1 permits. */
final class ChangedInstance implements ChangeTarget, AutoCloseable {
    /** The audit log of changes. Its level is set here, because the JDK forgets that of a logger without references. */
    private static final Logger AUDIT = Logger.getLogger("io.weir.ratelimit.changes");

    private static final Optional<String> SECRET = Optional.of("a secret of the measurement, not of instances");
    private static final Identity CALLER = Identity.principal("caller");
    private static final int POLICIES = 20;
    private static final Set<String> NAMES =
            IntStream.range(0, POLICIES).mapToObj(ChangedInstance::policyOf).collect(Collectors.toUnmodifiableSet());
    private static final ConfigProperties CONFIG = config();

    static {
        AUDIT.setLevel(Level.WARNING);
    }

    private volatile Map<String, Policy> policies = load(PolicyValues.NONE, new Problems());
    private final RateLimiter limiter = new EngineRateLimiter(
            LocalEngines.engine(List.of()), () -> policies, ForkJoinPool::commonPool, Optional::empty);
    private final RedissonClient client;
    private final RedissonBackend backend;
    private final InstanceChanges changes;

    ChangedInstance(String address, String namespace) {
        Config redisson = new Config().setCodec(StringCodec.INSTANCE);
        redisson.useSingleServer().setAddress(address);
        this.client = Redisson.create(redisson);
        this.backend = new RedissonBackend(client, namespace, Duration.ofSeconds(10));
        awaitRedis();
        this.changes = new InstanceChanges(
                new StoredChanges(
                        backend.capability(ChangeStore.class).orElseThrow(),
                        true,
                        new ChangeCodec(namespace, SECRET),
                        System::nanoTime,
                        Clock.systemUTC()),
                this,
                new ChangeAudit(new KeyMasker(SECRET)));
        changes.start(Duration.ofSeconds(10));
    }

    private void awaitRedis() {
        Charge charge = new Charge(
                new PolicyLimits("ready", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofHours(1)))),
                "k.ready",
                1);
        while (true) {
            try {
                backend.peek(List.of(charge));
                return;
            } catch (BackendException e) {
                Thread.onSpinWait();
            }
        }
    }

    private static String policyOf(long change) {
        return "policy" + change % POLICIES;
    }

    private static ConfigProperties config() {
        Map<String, String> values = new HashMap<>();
        for (String name : NAMES) {
            values.put("ratelimit.policies." + name + ".limit", "1/1m");
            values.put("ratelimit.policies." + name + ".key", "principal");
        }
        return ConfigProperties.of(values);
    }

    private static Map<String, Policy> load(PolicyValues values, Problems problems) {
        return PolicyLoader.load(
                        ChangedProperties.over(CONFIG, values, NAMES),
                        List.of(),
                        new Resolvers(new KeyTerms(32, 64), Map.of()),
                        problems)
                .policies();
    }

    /** Makes the change with a number. */
    void make(long number) {
        try {
            RuntimeChange made = changes.make(
                    new ChangeRequest(
                            new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, policyOf(number), Optional.empty()),
                            Map.of("limit", number + 1 + "/1m"),
                            Optional.empty(),
                            "measurement",
                            "operator"),
                    changes.view().tag());
            if (made.number() != number) {
                throw new IllegalStateException("change " + number + " has the number " + made.number());
            }
        } catch (InvalidChangeException | ChangeConflictException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Reads and applies the changes. Returns the number of the last change whose limit is in force, or 0. */
    long poll() {
        changes.run();
        long permits = policies.values().stream()
                .mapToLong(policy -> policy.limits().limits().get(0).permits())
                .max()
                .orElseThrow();
        return permits - 1;
    }

    /** Checks that the engine decides with the limit of a change. */
    void check(long number) {
        long permits = limiter.peek(policyOf(number), CALLER).get(0).permits();
        if (permits != number + 1) {
            throw new IllegalStateException("change " + number + " is not in force: " + permits + " permits");
        }
    }

    @Override
    public void close() {
        backend.close();
        client.shutdown();
    }

    @Override
    public Set<String> names() {
        return NAMES;
    }

    @Override
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(policies.get(name));
    }

    @Override
    public Map<String, String> values(String policy) {
        return Map.of();
    }

    @Override
    public Findings check(PolicyValues values, Collection<RuntimeChange> ofKeys) {
        Problems problems = new Problems();
        load(values, problems);
        return new Findings(problems.found(), Map.of(), Map.of());
    }

    @Override
    public Object configuration() {
        return CONFIG;
    }

    @Override
    public void apply(PolicyValues values) {
        policies = load(values, new Problems());
    }

    @Override
    public void override(Map<Overrides.Subject, Map<String, String>> values) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void block(String policy, String storedKey, Duration length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void unblock(String policy, String storedKey) {
        throw new UnsupportedOperationException();
    }
}
