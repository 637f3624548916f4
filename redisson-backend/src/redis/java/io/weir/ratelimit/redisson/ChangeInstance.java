// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.operations.changes.ChangeAudit;
import io.weir.ratelimit.operations.changes.ChangeCodec;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.ChangeTarget;
import io.weir.ratelimit.operations.changes.ChangedProperties;
import io.weir.ratelimit.operations.changes.InstanceChanges;
import io.weir.ratelimit.operations.changes.PolicyValues;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.StoredChanges;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;

/** An instance with an engine, the policy {@code api} and runtime changes. */
final class ChangeInstance implements ChangeTarget {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final ConfigProperties CONFIG = ConfigProperties.of(
            Map.of("ratelimit.policies.api.limit", "2/24h", "ratelimit.policies.api.key", "principal"));

    private final Overrides overrides = new Overrides(
            OverrideSources.NONE,
            new LookupTimes(Duration.ZERO, Duration.ZERO, () -> 0),
            () -> Runnable::run,
            new KeyMasker(Optional.empty()),
            (policy, failure) -> {});
    private volatile Map<String, Policy> policies = load(PolicyValues.NONE, new Problems());
    private final IdentityEncoder encoder;
    private final KeyAdministration keys;
    private final RateLimiter limiter;
    final InstanceChanges changes;

    ChangeInstance(RateLimitBackend backend, String namespace, Optional<String> secret) {
        this.encoder = new IdentityEncoder(secret);
        FailureModes modes = new FailureModes(() -> 1, () -> new LocalBackend(100));
        RateLimitEngine engine = RedisEngine.of(
                RedisEngine.withFallback(backend, modes, DEADLINE),
                encoder,
                overrides,
                QuotaThresholds.NONE,
                RejectionListener.NONE);
        this.keys = engine.keys();
        this.limiter = new EngineRateLimiter(engine, () -> policies, ForkJoinPool::commonPool, Optional::empty);
        this.changes = new InstanceChanges(
                new StoredChanges(
                        backend.capability(ChangeStore.class).orElseThrow(),
                        true,
                        new ChangeCodec(namespace, secret),
                        System::nanoTime,
                        Clock.systemUTC()),
                this,
                new ChangeAudit(new KeyMasker(secret)));
        changes.start(DEADLINE);
    }

    private static Map<String, Policy> load(PolicyValues values, Problems problems) {
        return PolicyLoader.load(
                        ChangedProperties.over(CONFIG, values, Set.of("api")),
                        List.of(),
                        new Resolvers(new KeyTerms(32, 64), Map.of()),
                        problems)
                .policies();
    }

    /** Makes calls. Returns how many of them were allowed. */
    long allowed(String name, int calls) {
        long allowed = 0;
        for (int i = 0; i < calls; i++) {
            allowed += limiter.acquire("api", Identity.principal(name)).allowed() ? 1 : 0;
        }
        return allowed;
    }

    String storedKey(String name) {
        return encoder.encode(Identity.principal(name));
    }

    RuntimeChange make(Kind kind, Optional<String> key, Map<String, String> values, Duration length) throws Exception {
        return changes.make(
                new ChangeRequest(
                        new RuntimeChange.Subject(kind, "api", key), values, Optional.of(length), "a test", "alice"),
                changes.view().tag());
    }

    void undo(RuntimeChange change) throws Exception {
        changes.undo(change.number(), "a test", "bob", changes.view().tag());
    }

    @Override
    public Set<String> names() {
        return Set.of("api");
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
    public List<String> warnings(PolicyValues values, String policy) {
        return List.of();
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
        overrides.replace(values);
    }

    @Override
    public void block(String policy, String storedKey, Duration length) {
        keys.block(policies.get(policy), storedKey, length);
    }

    @Override
    public void unblock(String policy, String storedKey) {
        keys.unblock(policies.get(policy), storedKey);
    }
}
