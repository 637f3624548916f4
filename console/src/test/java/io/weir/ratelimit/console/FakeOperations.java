// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.interceptor.engine.StoreHealth;
import io.weir.ratelimit.interceptor.operate.Access;
import io.weir.ratelimit.interceptor.operate.Operations;
import io.weir.ratelimit.interceptor.operate.PolicyView;
import io.weir.ratelimit.interceptor.operate.Reading;
import io.weir.ratelimit.interceptor.policy.ReloadListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** An instance as a test wants it. Callers are untouched until they are reset, and then too. */
final class FakeOperations implements Operations {
    volatile Access access = new Access(true, Optional.empty(), true);
    volatile StoreHealth.Report store = report(StoreHealth.State.UP, false);
    volatile Reading reading = new Reading(Instant.EPOCH, ReloadListener.Result.APPLIED, List.of());
    volatile TopKeys top = new TopKeys(List.of(), List.of(), Duration.ofMinutes(5));
    volatile Optional<RuntimeException> failure = Optional.empty();
    volatile long remaining = 2;
    final List<PolicyView> policies = new CopyOnWriteArrayList<>();
    final List<String> done = new CopyOnWriteArrayList<>();

    FakeOperations() {
        policies.add(policy("hello", List.of(List.of("ip"), List.of("header:X-Key", "global")), Map.of()));
        policies.add(policy(
                "plan", List.of(List.of("ip")), Map.of("free", List.of("60/1m"), "premium", List.of("1000/1m"))));
    }

    static StoreHealth.Report report(StoreHealth.State state, boolean breakerOpen) {
        return new StoreHealth.Report(
                "redisson",
                state,
                breakerOpen,
                breakerOpen ? Duration.ofSeconds(17) : Duration.ZERO,
                breakerOpen ? Optional.of("timeout") : Optional.empty(),
                breakerOpen ? 13 : 0,
                breakerOpen ? 4711 : 0,
                true);
    }

    static PolicyView policy(String name, List<List<String>> keys, Map<String, List<String>> tiers) {
        return new PolicyView(
                name,
                "enforce",
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

    @Override
    public Access access() {
        return access;
    }

    @Override
    public StoreHealth.Report store() {
        return store;
    }

    @Override
    public List<PolicyView> policies() {
        return new ArrayList<>(policies);
    }

    @Override
    public Reading lastReading() {
        return reading;
    }

    @Override
    public TopKeys topKeys(String policy) {
        check(policy);
        return top;
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> parts) {
        PolicyView view = check(policy);
        if (alternative >= view.keys().size() || view.keys().get(alternative).size() != parts.size()) {
            throw new IllegalArgumentException("the values do not fit the key");
        }
        return named(policy, alternative + String.join("|", parts));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        check(policy);
        return named(policy, "code " + key.parts().get(0).value());
    }

    @Override
    public Caller shown(String policy, String shownKey) {
        check(policy);
        return named(policy, shownKey);
    }

    private static Caller named(String policy, String key) {
        return new Caller(policy, "k.secret", key);
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        done.add("peek " + caller.policy() + " " + caller.key() + " " + tier);
        return List.of(new Quota(
                caller.policy(), caller.policy(), 5, 5, Duration.ofSeconds(10), remaining, false, 0, 7_000_000, 1));
    }

    @Override
    public void reset(Caller caller) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        done.add("reset " + caller.policy() + " " + caller.key());
        remaining = 5;
    }

    private PolicyView check(String name) {
        return policies.stream()
                .filter(policy -> policy.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no policy of this name"));
    }

    static RuntimeException away() {
        return new RateLimitUnavailableException("timeout");
    }
}
