// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.core.snapshot.ValueLayer.KeyValues;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The policies and keys of one deployment, to which runtime changes apply.
 *
 * @param origins returns the origins of a policy, empty if the policy does not exist
 * @param overrides the limits of single keys
 * @param callers the operations on keys of the backend, and the blocks that this instance knows of
 */
public record DeploymentChanges(
        Reload reload, Function<String, List<Origin>> origins, Overrides overrides, InstanceCallers callers)
        implements ChangeTarget {
    /** The longest wait for the first connection. */
    private static final long MAX_CONNECTION_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Returns the changes of this deployment, which are read before the first request. */
    public InstanceChanges start(
            RateLimitBackend backend, ChangeCodec codec, ChangeAudit audit, LongSupplier nanos, Duration deadline) {
        Optional<ChangeStore> shared = backend.capability(ChangeStore.class);
        if (shared.isPresent()) {
            awaitConnection(backend);
        }
        InstanceChanges changes = new InstanceChanges(
                new StoredChanges(
                        shared.orElseGet(() -> new LocalChangeStore(Clock.systemUTC())),
                        shared.isPresent(),
                        codec,
                        nanos,
                        Clock.systemUTC()),
                this,
                audit);
        changes.start(deadline);
        return changes;
    }

    private static void awaitConnection(RateLimitBackend backend) {
        long end = System.nanoTime() + MAX_CONNECTION_NANOS;
        while (!backend.status().initialized() && System.nanoTime() < end) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    @Override
    public Set<String> names() {
        return reload.names();
    }

    @Override
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(callers.policies().get().get(name));
    }

    @Override
    public Map<String, String> values(String policy) {
        Map<String, String> values = new HashMap<>();
        for (Origin origin : origins.apply(policy)) {
            values.put(origin.attribute(), origin.value());
        }
        return values;
    }

    @Override
    public Findings check(PolicyValues values, Collection<RuntimeChange> ofKeys) {
        return reload.check(
                values,
                ofKeys.stream()
                        .map(change -> new KeyValues(
                                change.number(), change.subject().policy(), change.values(), PolicyValues.of(change)))
                        .toList());
    }

    @Override
    public Object configuration() {
        return reload.configuration();
    }

    @Override
    public void apply(PolicyValues values) {
        reload.apply(values);
    }

    @Override
    public void override(Map<Overrides.Subject, Map<String, String>> values) {
        overrides.replace(values);
    }

    @Override
    public void block(String policy, String storedKey, Duration length) {
        policy(policy)
                .ifPresent(each -> callers.blocks()
                        .blocked(policy, storedKey, callers.stored().block(each, storedKey, length)));
    }

    @Override
    public void unblock(String policy, String storedKey) {
        policy(policy).ifPresent(each -> {
            callers.stored().unblock(each, storedKey);
            callers.blocks().ended(policy, storedKey);
        });
    }
}
