// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.core.snapshot.ValueLayer.KeyValues;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The policies and keys of one deployment, to which runtime changes apply.
 */
public record DeploymentChanges(HostedWeir weir) implements ChangeTarget {
    /** The longest wait for the first connection. */
    private static final long MAX_CONNECTION_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Returns the changes of this deployment, which are read before the first request. */
    public InstanceChanges start(ChangeCodec codec) {
        Optional<ChangeStore> shared = weir.backend().capability(ChangeStore.class);
        if (shared.isPresent()) {
            awaitConnection(weir.backend());
        }
        InstanceChanges changes = new InstanceChanges(
                new StoredChanges(
                        shared.orElseGet(() -> new LocalChangeStore(steady(weir.clock()::nanos))),
                        shared.isPresent(),
                        codec,
                        weir.clock()::nanos,
                        Clock.systemUTC()),
                this,
                new ChangeAudit(weir.callers().masker()));
        changes.start(weir.settings().deadline());
        return changes;
    }

    /** Returns a clock that never steps, because no other instance knows the time of the changes. */
    private static InstantSource steady(LongSupplier nanos) {
        Instant start = Instant.now();
        long first = nanos.getAsLong();
        return () -> start.plusNanos(nanos.getAsLong() - first);
    }

    private static void awaitConnection(RateLimitBackend backend) {
        long end = System.nanoTime() + MAX_CONNECTION_NANOS;
        while (!backend.status().initialized() && System.nanoTime() < end) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    @Override
    public Set<String> names() {
        return weir.reload().names();
    }

    @Override
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(weir.callers().policies().get().get(name));
    }

    @Override
    public Map<String, String> values(String policy) {
        Map<String, String> values = new HashMap<>();
        weir.policies().origins(policy).forEach(origin -> values.put(origin.attribute(), origin.value()));
        return values;
    }

    @Override
    public Findings check(PolicyValues values, Collection<RuntimeChange> ofKeys) {
        return weir.reload()
                .check(
                        values,
                        ofKeys.stream()
                                .map(change -> new KeyValues(
                                        change.number(),
                                        change.subject().policy(),
                                        change.values(),
                                        PolicyValues.of(change)))
                                .toList());
    }

    @Override
    public List<String> warnings(PolicyValues values, String policy) {
        return weir.reload().warnings(values, policy);
    }

    @Override
    public Object configuration() {
        return weir.reload().configuration();
    }

    @Override
    public void apply(PolicyValues values) {
        weir.reload().apply(values);
    }

    @Override
    public void override(Map<Overrides.Subject, Map<String, String>> values) {
        weir.overrides().replace(values);
    }

    @Override
    public void block(String policy, String storedKey, Duration length) {
        policy(policy)
                .ifPresent(each -> weir.callers()
                        .blocks()
                        .blocked(policy, storedKey, weir.callers().stored().block(each, storedKey, length)));
    }

    @Override
    public void unblock(String policy, String storedKey) {
        policy(policy).ifPresent(each -> {
            weir.callers().stored().unblock(each, storedKey);
            weir.callers().blocks().ended(policy, storedKey);
        });
    }
}
