// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.PathRules;
import io.weir.ratelimit.interceptor.policy.Bypass;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Policies;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Problems;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.config.Config;

/** Makes rulebooks out of configuration and of what annotations say, which stays the same. */
final class RulebookReader {
    private final List<Ruled> ruled;
    private final List<MethodRule> rules;
    private final Policies.Vocabulary words;

    /** What annotations say about a method of a bean. */
    private record Ruled(Class<?> beanClass, Method method, MethodRule rule) {}

    private RulebookReader(List<Ruled> ruled, Policies.Vocabulary words) {
        this.ruled = ruled;
        this.rules = ruled.stream().map(Ruled::rule).toList();
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

    /** What configuration says now. */
    Rulebook read(Config config, Problems problems) {
        Policies.Read read = Policies.read(config, rules, words, problems);
        Map<String, Policy> policies = read.policies();
        for (Ruled one : ruled) {
            one.rule.policies().stream()
                    .map(policies::get)
                    .filter(Objects::nonNull)
                    .forEach(policy -> check(one, policy, problems));
        }
        Map<String, Long> costs = costs(config, problems);
        return new Rulebook(
                policies,
                new PathRules(policies.values().stream()
                        .filter(policy -> !policy.isEarly())
                        .toList()),
                new PathRules(policies.values().stream().filter(Policy::isEarly).toList()),
                new Bindings((beanClass, method) -> binding(beanClass, method, policies, costs, config)),
                Bypass.read(config, problems));
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

    private Map<String, Long> costs(Config config, Problems problems) {
        Map<String, Long> costs = new LinkedHashMap<>();
        for (MethodRule rule : rules) {
            if (!costs.containsKey(rule.endpoint())) {
                Policies.cost(config, rule.endpoint(), problems).ifPresent(cost -> costs.put(rule.endpoint(), cost));
            }
        }
        return costs;
    }

    /** The policies of a method. Runs at a method's first call; at deployment every known one has been checked. */
    private Binding binding(
            Class<?> beanClass, Method method, Map<String, Policy> policies, Map<String, Long> costs, Config config) {
        Problems late = new Problems();
        RuleReader reader = new RuleReader(late);
        Optional<MethodRule> found = reader.read(beanClass, method);
        if (found.isEmpty()) {
            return reader.isExempt(beanClass, method) ? Binding.EXEMPT : Binding.NONE;
        }
        MethodRule rule = found.get();
        List<Binding.Costed> costed = new ArrayList<>();
        for (String name : rule.policies()) {
            Policy policy = policies.containsKey(name)
                    ? policies.get(name)
                    : Policies.read(config, List.of(rule), words, late)
                            .policies()
                            .get(name);
            if (policy == null) {
                throw new IllegalStateException("WEIR-204 " + rule.endpoint() + " is limited by the policy " + name
                        + ", which could not be checked at deployment because its class was no bean then, and is wrong; "
                        + late.message());
            }
            long own = rule.cost() > 0 ? rule.cost() : policy.cost();
            if (policy.mode() != Policy.Mode.OFF) {
                costed.add(new Binding.Costed(policy, costs.getOrDefault(rule.endpoint(), own)));
            }
        }
        return new Binding(rule.endpoint(), costed);
    }
}
