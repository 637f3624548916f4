// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Operations with values that a test sets. */
final class FakeOperations implements Operations {
    volatile Access access = new Access(true, Optional.empty(), true);
    volatile BackendHealth.Report backend = report(BackendHealth.State.UP, false);
    volatile Reading reload = new Reading(Instant.EPOCH, ReloadListener.Result.APPLIED, List.of());
    volatile TopKeys top = new TopKeys(List.of(), List.of(), List.of(), Duration.ofMinutes(5));

    /** The top keys of single policies, which have others than {@link #top}. */
    final Map<String, TopKeys> tops = new ConcurrentHashMap<>();

    volatile Optional<RuntimeException> failure = Optional.empty();
    volatile Optional<FleetStore> fleetStore = Optional.empty();
    volatile Optional<String> grafana = Optional.empty();
    volatile Optional<RuntimeChanges> changes = Optional.empty();
    volatile int numberOfInstances = 1;
    volatile long remaining = 2;
    volatile long blockedMicros;
    volatile @Nullable ZonedDateTime periodEnd;
    final List<PolicyView> policies = new CopyOnWriteArrayList<>();
    final Map<String, Integer> running = new ConcurrentHashMap<>();
    volatile KnownBlocks blocks = new KnownBlocks(System::nanoTime);
    final List<String> calls = new CopyOnWriteArrayList<>();

    FakeOperations() {
        policies.add(policy("hello", List.of(List.of("ip"), List.of("header:X-Key", "global")), Map.of()));
        policies.add(policy(
                "plan", List.of(List.of("ip")), Map.of("free", List.of("60/1m"), "premium", List.of("1000/1m"))));
    }

    static BackendHealth.Report report(BackendHealth.State state, boolean breakerOpen) {
        return new BackendHealth.Report(
                "redisson",
                state,
                breakerOpen,
                breakerOpen ? Duration.ofSeconds(17) : Duration.ZERO,
                breakerOpen ? Optional.of("timeout") : Optional.empty(),
                breakerOpen ? 13 : 0,
                breakerOpen ? 4711 : 0,
                true,
                breakerOpen ? 0 : 3);
    }

    static PolicyView policy(String name, List<List<String>> keys, Map<String, List<String>> tiers) {
        return new PolicyView(
                name,
                "enforce",
                0,
                "sliding-window",
                "ip",
                keys,
                List.of("5/10s"),
                tiers,
                1,
                "open",
                List.of(new PolicyView.Setting(
                        "ratelimit.policies." + name + ".limit", "5/10s", "application.properties")),
                List.of("HelloResource.hello"),
                "");
    }

    /** Returns a policy with another limit, which has another source. */
    static PolicyView withLimit(String name, String limit, String source) {
        PolicyView policy = policy(name, List.of(List.of("ip")), Map.of());
        return new PolicyView(
                name,
                policy.mode(),
                policy.enforcePercent(),
                policy.algorithm(),
                policy.key(),
                policy.keys(),
                List.of(limit),
                policy.tiers(),
                policy.cost(),
                policy.onFailure(),
                List.of(new PolicyView.Setting("ratelimit.policies." + name + ".limit", limit, source)),
                policy.endpoints(),
                policy.paths());
    }

    /** Returns a policy of the calls of a REST client. */
    static PolicyView ofClient(String name, String client) {
        PolicyView policy = policy(name, List.of(List.of("ip")), Map.of());
        return new PolicyView(
                name,
                policy.mode(),
                policy.enforcePercent(),
                policy.algorithm(),
                policy.key(),
                policy.keys(),
                policy.limits(),
                policy.tiers(),
                policy.cost(),
                policy.onFailure(),
                policy.settings(),
                List.of("client:" + client),
                policy.paths());
    }

    /** Returns a policy in shadow mode that is enforced for a share of its keys. */
    static PolicyView staged(String name, int enforcePercent) {
        String prefix = "ratelimit.policies." + name + ".";
        return new PolicyView(
                name,
                "shadow",
                enforcePercent,
                "sliding-window",
                "ip",
                List.of(List.of("ip")),
                List.of("5/10s"),
                Map.of(),
                1,
                "open",
                List.of(
                        new PolicyView.Setting(
                                prefix + "enforce-percent", Integer.toString(enforcePercent), "application.properties"),
                        new PolicyView.Setting(prefix + "limit", "5/10s", "application.properties"),
                        new PolicyView.Setting(prefix + "mode", "shadow", "application.properties")),
                List.of("HelloResource.hello"),
                "");
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public BackendHealth.Report backend() {
        return backend;
    }

    @Override
    public List<PolicyView> policies() {
        return new ArrayList<>(policies);
    }

    @Override
    public Reading lastReading() {
        return reload;
    }

    @Override
    public TopKeys storedTopKeys(String policy) {
        existing(policy);
        return tops.getOrDefault(policy, top);
    }

    @Override
    public Caller callerByStoredKey(String policy, String storedKey) {
        return callerOf(policy, storedKey.replace("k.secret ", ""));
    }

    @Override
    public boolean isEnforced(String policy, String storedKey) {
        return existing(policy).mode().equals("enforce");
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return fleetStore;
    }

    @Override
    public int numberOfInstances() {
        return numberOfInstances;
    }

    @Override
    public Optional<String> grafana() {
        return grafana;
    }

    @Override
    public Optional<RuntimeChanges> changes() {
        return changes;
    }

    @Override
    public Optional<String> changesRole() {
        return changes.isPresent() ? Optional.of("changer") : Optional.empty();
    }

    @Override
    public String storedKey(Caller caller) {
        return "k.secret " + caller.key();
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> parts) {
        PolicyView view = existing(policy);
        if (alternative >= view.keys().size() || view.keys().get(alternative).size() != parts.size()) {
            throw new IllegalArgumentException("the values do not fit the key");
        }
        return callerOf(policy, alternative + String.join("|", parts));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        existing(policy);
        return callerOf(policy, "text " + key.parts().get(0).value());
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        existing(policy);
        return callerOf(policy, maskedKey.strip());
    }

    static Caller callerOf(String policy, String key) {
        return new KnownCaller(policy, "k.secret", key);
    }

    /** A caller whose stored key must not appear in a response. */
    private record KnownCaller(String policy, String storedKey, String key) implements Caller {}

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        calls.add("peek " + caller.policy() + " " + caller.key() + " " + tier);
        return List.of(TestQuota.of(
                caller.policy(),
                caller.policy(),
                5,
                5,
                Duration.ofSeconds(10),
                remaining,
                false,
                0,
                7_000_000,
                1,
                periodEnd,
                blockedMicros));
    }

    @Override
    public void reset(Caller caller) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        calls.add("reset " + caller.policy() + " " + caller.key());
        remaining = 5;
    }

    private PolicyView existing(String name) {
        return policies.stream()
                .filter(policy -> policy.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no policy of this name"));
    }

    static RuntimeException unavailable() {
        return new RateLimitUnavailableException("timeout");
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        calls.add("block " + caller.policy() + " " + caller.key() + " " + duration);
        blockedMicros = duration.toNanos() / 1_000;
        blocks.blocked(caller.policy(), caller.key(), duration);
        return duration;
    }

    @Override
    public void unblock(Caller caller) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        calls.add("unblock " + caller.policy() + " " + caller.key());
        blockedMicros = 0;
        blocks.ended(caller.policy(), caller.key());
    }

    @Override
    public Map<String, Integer> runningCalls() {
        return Map.copyOf(running);
    }

    @Override
    public KnownBlocks blocks() {
        return blocks;
    }
}
