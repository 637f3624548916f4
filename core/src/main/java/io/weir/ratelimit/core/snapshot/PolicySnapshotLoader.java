// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.local.DisabledBackend;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.Bypass;
import io.weir.ratelimit.core.policy.CostCheck;
import io.weir.ratelimit.core.policy.EffectCheck;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.MethodCosts;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.PenaltyCheck;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.PathRules;
import io.weir.ratelimit.core.snapshot.ValueLayer.KeyValues;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A loader of policy snapshots from the configuration and from the annotations, which do not change. */
public final class PolicySnapshotLoader {
    private final List<AnnotatedMethods.Limited> methods;
    private final AnnotatedMethods.Scanner scanner;
    private final Resolvers resolvers;
    private final Set<String> policiesOfSources;
    private final LateMethods late;
    private final Map<String, List<AnnotatedMethods.Limited>> byPolicy = new HashMap<>();
    private List<MethodLimits> endpoints = List.of();
    private PolicyCheck check = PolicyCheck.NONE;
    private Predicate<Class<?>> managed = beanClass -> false;
    private RateLimitBackend backend = new DisabledBackend();

    /** Creates a loader; the scanner reads the annotations of methods of other classes. */
    public PolicySnapshotLoader(
            List<AnnotatedMethods.Limited> methods,
            AnnotatedMethods.Scanner scanner,
            Resolvers resolvers,
            Set<String> policiesOfSources) {
        this.methods = List.copyOf(methods);
        this.scanner = scanner;
        this.resolvers = resolvers;
        this.policiesOfSources = Set.copyOf(policiesOfSources);
        this.late = new LateMethods(resolvers);
        methods.forEach(method -> method.limits()
                .policies()
                .forEach(policy -> byPolicy.computeIfAbsent(policy, first -> new ArrayList<>())
                        .add(method)));
    }

    /** Sets the managed beans, whose asynchronous methods can wait without a thread. */
    public PolicySnapshotLoader withManagedBeans(Set<Class<?>> managedBeans) {
        managed = managedBeans::contains;
        return this;
    }

    /** Sets the backend, which can evaluate the limits of all policies. */
    public PolicySnapshotLoader withBackend(RateLimitBackend selected) {
        backend = selected;
        return this;
    }

    /** Sets the endpoints that are no methods, such as REST clients, and their check of policies. */
    public PolicySnapshotLoader withEndpoints(Collection<MethodLimits> others, PolicyCheck ofOthers) {
        endpoints = List.copyOf(others);
        check = ofOthers;
        return this;
    }

    /** Returns the limits of the methods of beans and of the other endpoints. */
    public List<MethodLimits> methods() {
        return Stream.concat(methods.stream().map(AnnotatedMethods.Limited::limits), endpoints.stream())
                .toList();
    }

    /** Returns the names of the policies that no method of a bean has, but another endpoint. */
    public Set<String> policiesWithoutMethods() {
        Set<String> names = new HashSet<>();
        endpoints.forEach(endpoint -> names.addAll(endpoint.policies()));
        names.removeAll(byPolicy.keySet());
        return names;
    }

    private List<MethodLimits> known() {
        return Stream.concat(methods().stream(), late.methods().stream()).toList();
    }

    /** Loads the first snapshot. */
    public PolicySnapshot load(ConfigProperties config, Problems problems) {
        return load(config, Optional.empty(), Optional.empty(), problems);
    }

    /** Loads a changed configuration. The previous values stay in force for its invalid parts. */
    public PolicySnapshot reload(ConfigProperties config, PolicySnapshot previous, Problems problems) {
        return load(config, Optional.of(previous), Optional.of(previous), problems);
    }

    /**
     * Loads a configuration with runtime changes over it. Unchanged policies stay the objects of the snapshot in force. For invalid
     * changes, the snapshot of the configuration stays in force.
     */
    public PolicySnapshot change(
            ConfigProperties changed, PolicySnapshot inForce, PolicySnapshot configured, Problems problems) {
        return load(changed, Optional.of(configured), Optional.of(inForce), problems);
    }

    private PolicySnapshot load(
            ConfigProperties config,
            Optional<PolicySnapshot> previous,
            Optional<PolicySnapshot> inForce,
            Problems problems) {
        List<MethodLimits> known = known();
        LoadedPolicies loaded = PolicyLoader.load(config, known, resolvers, problems);
        Map<String, Long> costs =
                costs(config, known, previous.map(PolicySnapshot::costs).orElse(Map.of()), loaded.complete(), problems);
        Map<String, List<ConfigurationProblem>> invalid = new TreeMap<>(loaded.invalid());
        PolicyChecks checks = checks(config, known, costs);
        Set<String> exceeded = check(checks, loaded.policies(), config, invalid, problems);
        Map<String, Policy> policies = new LinkedHashMap<>(loaded.policies());
        previous.ifPresent(snapshot -> {
            keepValid(policies, snapshot, invalid.keySet(), loaded.complete());
            // A policy that was kept can hold less than the changed one.
            ofCosts(checks, policies).forEach((name, found) -> {
                if (exceeded.add(name)) {
                    problems.addAll(found);
                }
            });
            keepCosts(costs, snapshot, known, exceeded);
            // A changed policy can hold less than a cost that was kept, which the checks read as well.
            ofCosts(checks, policies).forEach((name, found) -> {
                if (invalid.putIfAbsent(name, found) == null) {
                    problems.addAll(found);
                }
            });
            keepValid(policies, snapshot, invalid.keySet(), loaded.complete());
        });
        inForce.ifPresent(snapshot -> keepSame(policies, snapshot));
        MethodBinder binder = new MethodBinder(policies, costs, config, scanner, late);
        return new PolicySnapshot(
                policies,
                costs,
                new PathRules(policies.values().stream()
                        .filter(policy -> !policy.isEarly())
                        .toList()),
                new PathRules(policies.values().stream().filter(Policy::isEarly).toList()),
                new MethodBindings(binder::bind, managed),
                bypass(config, previous.map(PolicySnapshot::bypass), problems),
                origins(policies.keySet(), loaded, invalid.keySet(), previous.map(PolicySnapshot::origins)),
                invalid);
    }

    private PolicyChecks checks(ConfigProperties config, List<MethodLimits> known, Map<String, Long> costs) {
        return new PolicyChecks(byPolicy, backend, new CostCheck(config, known, costs), check);
    }

    /** Checks policies, and adds the invalid ones. Returns those that can never hold the cost of a call. */
    private Set<String> check(
            PolicyChecks checks,
            Map<String, Policy> policies,
            ConfigProperties config,
            Map<String, List<ConfigurationProblem>> invalid,
            Problems problems) {
        Map<String, List<ConfigurationProblem>> exceeded = ofCosts(checks, policies);
        for (Policy policy : new TreeMap<>(policies).values()) {
            String name = policy.name();
            List<ConfigurationProblem> found = new ArrayList<>(checks.problems(policy, config));
            found.addAll(exceeded.getOrDefault(name, List.of()));
            if (!found.isEmpty()) {
                invalid.merge(
                        name,
                        found,
                        (one, other) ->
                                Stream.concat(one.stream(), other.stream()).toList());
                problems.addAll(found);
            }
        }
        return new TreeSet<>(exceeded.keySet());
    }

    /** Returns the costs that policies can never hold, by policy. A source can give a key higher limits. */
    private Map<String, List<ConfigurationProblem>> ofCosts(PolicyChecks checks, Map<String, Policy> policies) {
        Map<String, List<ConfigurationProblem>> exceeded = new TreeMap<>();
        policies.forEach((name, policy) -> {
            List<ConfigurationProblem> found = policiesOfSources.contains(name) ? List.of() : checks.ofCosts(policy);
            if (!found.isEmpty()) {
                exceeded.put(name, found);
            }
        });
        return exceeded;
    }

    /** Returns the warnings about the policies of a snapshot. The start logs all of them, and a reload the new ones. */
    public List<MessageCatalog.Message> warnings(PolicySnapshot snapshot) {
        return warnings(snapshot, snapshot.policies());
    }

    /** Returns the warnings about one policy of a snapshot; none about an invalid one, whose previous values apply. */
    public List<MessageCatalog.Message> warnings(PolicySnapshot snapshot, String name) {
        return snapshot.policy(name)
                .filter(policy -> !snapshot.invalid().containsKey(name))
                .map(policy -> warnings(snapshot, Map.of(name, policy)))
                .orElse(List.of());
    }

    private List<MessageCatalog.Message> warnings(PolicySnapshot snapshot, Map<String, Policy> policies) {
        List<MessageCatalog.Message> warnings =
                new ArrayList<>(CostCheck.warnings(policies, known(), snapshot.costs()));
        warnings.addAll(EffectCheck.ofPolicies(policies, snapshot.origins()));
        warnings.addAll(PenaltyCheck.warnings(policies));
        return warnings;
    }

    /** Returns the problems of the limits of single keys under the policies of a snapshot, by the number of the limits. */
    public Map<Long, List<ConfigurationProblem>> problems(
            PolicySnapshot snapshot, ConfigProperties config, Collection<KeyValues> overrides) {
        return checks(config, known(), snapshot.costs()).ofOverrides(overrides, snapshot.policies(), config);
    }

    /** Returns the problems of the limits of one key with methods, the backend and plug-ins. */
    public List<ConfigurationProblem> problemsOfKey(Policy policy, PolicyLimits limits, ConfigProperties config) {
        // Only a slot needs more of the methods than the limits of the policy itself.
        Map<String, List<AnnotatedMethods.Limited>> checked = limits.hasConcurrency() ? byPolicy : Map.of();
        return new PolicyChecks(checked, backend, new CostCheck(config, List.of(), Map.of()), check)
                .problems(policy.withLimits(limits), config);
    }

    /** Restores the costs of methods under policies that cannot hold them. */
    private static void keepCosts(
            Map<String, Long> costs, PolicySnapshot previous, List<MethodLimits> methods, Set<String> exceeded) {
        methods.stream()
                .filter(method -> exceeded.stream().anyMatch(method::isUnder))
                .map(MethodLimits::endpoint)
                .forEach(endpoint -> {
                    costs.remove(endpoint);
                    if (previous.costs().containsKey(endpoint)) {
                        costs.put(endpoint, previous.costs().get(endpoint));
                    }
                });
    }

    /** Keeps the objects of unchanged policies, because calls wait under them. */
    private static void keepSame(Map<String, Policy> policies, PolicySnapshot inForce) {
        policies.replaceAll((name, policy) -> {
            Policy same = inForce.policies().get(name);
            return policy.equals(same) ? same : policy;
        });
    }

    /** Replaces invalid policies by the previous ones. An unchanged policy stays the same object, because calls wait under it. */
    private void keepValid(
            Map<String, Policy> policies, PolicySnapshot previous, Set<String> invalid, boolean complete) {
        Map<String, Policy> valid = late.policies();
        valid.putAll(previous.policies());
        policies.keySet().removeAll(invalid);
        valid.forEach((name, policy) -> {
            boolean unchanged = policy.equals(policies.get(name));
            if (unchanged || invalid.contains(name) || (!complete && !policies.containsKey(name))) {
                policies.put(name, policy);
            }
        });
    }

    /** Reads the costs of methods. An invalid cost has its previous value, and so has one whose name can be misspelled. */
    private static Map<String, Long> costs(
            ConfigProperties config,
            List<MethodLimits> methods,
            Map<String, Long> previous,
            boolean complete,
            Problems problems) {
        Map<String, Long> costs = new LinkedHashMap<>();
        Map<String, MethodLimits.Name> sorted = new TreeMap<>();
        methods.forEach(method -> sorted.put(method.endpoint(), method.name()));
        sorted.forEach((endpoint, name) -> {
            Problems ofCost = new Problems();
            Optional<Long> cost = MethodCosts.read(config, name, ofCost);
            problems.addAll(ofCost.found());
            if (!ofCost.found().isEmpty() || (!complete && cost.isEmpty())) {
                cost = Optional.ofNullable(previous.get(endpoint));
            }
            cost.ifPresent(each -> costs.put(endpoint, each));
        });
        return costs;
    }

    private static Bypass bypass(ConfigProperties config, Optional<Bypass> previous, Problems problems) {
        Problems ofBypass = new Problems();
        Bypass loaded = Bypass.read(config, ofBypass);
        problems.addAll(ofBypass.found());
        return ofBypass.found().isEmpty() ? loaded : previous.orElse(loaded);
    }

    /** Collects the origins. A policy that was kept has its previous origins. */
    private static Map<String, List<Origin>> origins(
            Set<String> policies,
            LoadedPolicies loaded,
            Set<String> invalid,
            Optional<Map<String, List<Origin>>> previous) {
        Map<String, List<Origin>> origins = new HashMap<>();
        for (String name : policies) {
            boolean kept = previous.isPresent()
                    && (invalid.contains(name) || !loaded.policies().containsKey(name));
            origins.put(name, (kept ? previous.get() : loaded.origins()).getOrDefault(name, List.of()));
        }
        return origins;
    }
}
