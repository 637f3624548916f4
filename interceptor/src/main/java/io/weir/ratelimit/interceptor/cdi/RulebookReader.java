// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.PathRules;
import io.weir.ratelimit.interceptor.policy.Bypass;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Origin;
import io.weir.ratelimit.interceptor.policy.Policies;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Problems;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/** Makes rulebooks out of configuration and of what annotations say, which stays the same. */
final class RulebookReader {
    private final List<Ruled> ruled;
    private final Policies.Vocabulary words;

    /** What was found on methods of classes that were no beans at deployment, with their policies as they were then. */
    private final Map<MethodRule, Map<String, Policy>> late = new ConcurrentHashMap<>();

    /** What annotations say about a method of a bean. */
    private record Ruled(Class<?> beanClass, Method method, MethodRule rule) {}

    private RulebookReader(List<Ruled> ruled, Policies.Vocabulary words) {
        this.ruled = ruled;
        this.words = words;
    }

    /** A reader that knows the annotations of these classes. */
    static RulebookReader of(Set<Class<?>> beanClasses, Policies.Vocabulary words, Problems problems) {
        RuleReader reader = new RuleReader(problems);
        Reachability reachability = new Reachability(problems);
        List<Ruled> ruled = new ArrayList<>();
        for (Class<?> beanClass : beanClasses) {
            reachability.check(beanClass);
            for (Method method : RuleReader.candidates(beanClass)) {
                reader.read(beanClass, method).ifPresent(rule -> ruled.add(new Ruled(beanClass, method, rule)));
            }
        }
        return new RulebookReader(ruled, words);
    }

    /** What annotations of beans say, one rule per method. */
    List<MethodRule> rules() {
        return ruled.stream().map(Ruled::rule).toList();
    }

    /** What configuration says now. */
    Rulebook read(Config config, Problems problems) {
        return read(config, Optional.empty(), problems);
    }

    /**
     * What configuration says now, where that is right; where it is wrong, what held before still does.
     *
     * @param before what held
     * @param problems takes what is wrong
     */
    Rulebook readAgain(Config config, Rulebook before, Problems problems) {
        return read(config, Optional.of(before), problems);
    }

    private Rulebook read(Config config, Optional<Rulebook> before, Problems problems) {
        List<MethodRule> rules = Stream.concat(ruled.stream().map(Ruled::rule), late.keySet().stream())
                .toList();
        Policies.Read read = Policies.read(config, rules, words, problems);
        Set<String> wrong = new TreeSet<>(read.wrong());
        wrong.addAll(misused(read.policies(), problems));
        Map<String, Policy> policies = new LinkedHashMap<>(read.policies());
        before.ifPresent(held -> keepTheRight(policies, known(held), wrong, read.complete()));
        Map<String, Long> costs =
                costs(config, rules, before.map(Rulebook::costs).orElse(Map.of()), problems);
        return new Rulebook(
                policies,
                costs,
                new PathRules(policies.values().stream()
                        .filter(policy -> !policy.isEarly())
                        .toList()),
                new PathRules(policies.values().stream().filter(Policy::isEarly).toList()),
                new Bindings((beanClass, method) -> binding(beanClass, method, policies, costs, config)),
                bypass(config, before.map(Rulebook::bypass), problems),
                origins(policies.keySet(), read, wrong, before.map(Rulebook::origins)));
    }

    /** A policy that stays as it was has its values from where it had them. */
    private static Map<String, List<Origin>> origins(
            Set<String> policies, Policies.Read read, Set<String> wrong, Optional<Map<String, List<Origin>>> before) {
        Map<String, List<Origin>> origins = new HashMap<>();
        for (String name : policies) {
            boolean stays = before.isPresent()
                    && (wrong.contains(name) || !read.policies().containsKey(name));
            origins.put(name, (stays ? before.get() : read.origins()).getOrDefault(name, List.of()));
        }
        return origins;
    }

    private static Bypass bypass(Config config, Optional<Bypass> before, Problems problems) {
        Problems own = new Problems();
        Bypass read = Bypass.read(config, own);
        problems.addAll(own.found());
        return own.found().isEmpty() ? read : before.orElse(read);
    }

    private Map<String, Policy> known(Rulebook before) {
        Map<String, Policy> known = new HashMap<>();
        late.values().forEach(known::putAll);
        known.putAll(before.policies());
        return known;
    }

    /** What is as before stays the very same, too: callers wait under it. */
    private static void keepTheRight(
            Map<String, Policy> policies, Map<String, Policy> before, Set<String> wrong, boolean complete) {
        policies.keySet().removeAll(wrong);
        before.forEach((name, held) -> {
            boolean same = held.equals(policies.get(name));
            if (same || wrong.contains(name) || (!complete && !policies.containsKey(name))) {
                policies.put(name, held);
            }
        });
    }

    /** The policies that a method is under whose arguments or phase they cannot have. */
    private Set<String> misused(Map<String, Policy> policies, Problems problems) {
        Set<String> misused = new TreeSet<>();
        for (Ruled one : ruled) {
            one.rule.policies().stream()
                    .map(policies::get)
                    .filter(Objects::nonNull)
                    .forEach(policy -> {
                        Problems own = new Problems();
                        check(one, policy, own);
                        if (!own.found().isEmpty()) {
                            misused.add(policy.name());
                            problems.addAll(own.found());
                        }
                    });
        }
        return misused;
    }

    private static void check(Ruled one, Policy policy, Problems problems) {
        NamedArguments.check(one.beanClass, one.method, policy, problems);
        if (policy.isEarly()) {
            problems.add(
                    "WEIR-214",
                    one.beanClass.getName() + "." + one.method.getName(),
                    policy.name(),
                    "names a policy of phase=early, which is decided before the method is known",
                    "use another policy here, or phase=normal");
        }
    }

    private static Map<String, Long> costs(
            Config config, List<MethodRule> rules, Map<String, Long> before, Problems problems) {
        Map<String, Long> costs = new LinkedHashMap<>();
        Set<String> endpoints = rules.stream().map(MethodRule::endpoint).collect(Collectors.toCollection(TreeSet::new));
        for (String endpoint : endpoints) {
            Problems own = new Problems();
            Optional<Long> cost = Policies.cost(config, endpoint, own);
            if (!own.found().isEmpty()) {
                problems.addAll(own.found());
                cost = Optional.ofNullable(before.get(endpoint));
            }
            cost.ifPresent(each -> costs.put(endpoint, each));
        }
        return costs;
    }

    /** The policies of a method. Runs at a method's first call; at deployment every known one has been checked. */
    private Binding binding(
            Class<?> beanClass, Method method, Map<String, Policy> policies, Map<String, Long> costs, Config config) {
        Problems problems = new Problems();
        RuleReader reader = new RuleReader(problems);
        Optional<MethodRule> found = reader.read(beanClass, method);
        if (found.isEmpty()) {
            return reader.isExempt(beanClass, method) ? Binding.EXEMPT : Binding.NONE;
        }
        MethodRule rule = found.get();
        List<Binding.Costed> costed = new ArrayList<>();
        for (String name : rule.policies()) {
            Policy policy = policies.containsKey(name) ? policies.get(name) : late(rule, name, config, problems);
            if (policy == null) {
                throw new IllegalStateException("WEIR-204 " + rule.endpoint() + " is limited by the policy " + name
                        + ", which could not be checked at deployment because its class was no bean then, and is wrong; "
                        + problems.message());
            }
            long own = rule.cost() > 0 ? rule.cost() : policy.cost();
            if (policy.mode() != Policy.Mode.OFF) {
                costed.add(new Binding.Costed(policy, costs.getOrDefault(rule.endpoint(), own)));
            }
        }
        return new Binding(rule.endpoint(), costed);
    }

    /** A policy that only this method has. Once it was right it stays known, so that a change cannot end it. */
    private @Nullable Policy late(MethodRule rule, String name, Config config, Problems problems) {
        Policy read =
                Policies.read(config, List.of(rule), words, problems).policies().get(name);
        Map<String, Policy> known = late.computeIfAbsent(rule, first -> new ConcurrentHashMap<>());
        return read == null ? known.get(name) : known.computeIfAbsent(name, first -> read);
    }
}
