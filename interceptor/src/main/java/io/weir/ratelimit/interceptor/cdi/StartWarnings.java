// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.AddressRange;
import io.weir.ratelimit.interceptor.policy.ConsoleSettings;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Settings;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;

/** What is allowed in a deployment and most often not meant. */
final class StartWarnings {
    private static final Set<AddressRange> EVERYONE =
            Set.of(AddressRange.parse("0.0.0.0/0"), AddressRange.parse("::/0"));

    private static final String CONSOLE = "io.weir.ratelimit.console.ConsoleServlet";

    private final Settings settings;
    private final Config config;
    private final Rulebook rulebook;
    private final List<String> warnings = new ArrayList<>();

    StartWarnings(Settings settings, Config config, Rulebook rulebook) {
        this.settings = settings;
        this.config = config;
        this.rulebook = rulebook;
    }

    /** One text each. */
    List<String> all(String store, List<MethodRule> rules, Set<String> policiesOfSources) {
        if (settings.enabled()) {
            ofStore(store);
            ofTrust();
            ofHeaders();
            ofCosts(rules);
            ofSources(policiesOfSources);
        }
        ofConsole();
        return warnings.stream()
                .map(warning -> warning.replaceAll("\\p{Cntrl}", " "))
                .toList();
    }

    private boolean isSet(String property) {
        return config.getOptionalValue(property, String.class).isPresent();
    }

    private void ofStore(String store) {
        boolean local = store.equals("local");
        if (local && settings.instances() > 1) {
            warnings.add("WEIR-005 limits are counted in process, so " + settings.instances()
                    + " instances admit as many times as much; configure a Redis");
        } else if (local && isSet("KUBERNETES_SERVICE_HOST") && !isSet("ratelimit.instances")) {
            warnings.add(
                    "WEIR-005 limits are counted in process, and this looks like Kubernetes, where several instances"
                            + " would each admit as much; configure a Redis, or set ratelimit.instances=1");
        }
        if (store.equals("redisson") && !isSet("ratelimit.namespace")) {
            warnings.add(
                    "WEIR-006 no ratelimit.namespace is set: another application that shares this Redis and sets none"
                            + " counts on the same keys");
        }
        if (!local && settings.instances() == 1) {
            ofOneInstance();
        }
    }

    private void ofOneInstance() {
        Set<String> counting = enforced(FailureMode.LOCAL);
        if (!counting.isEmpty() && !isSet("ratelimit.instances")) {
            warnings.add("WEIR-010 while the store does not answer, each instance counts the whole limits of "
                    + counting + " (on-failure=local) by itself; set ratelimit.instances to how many run");
        }
        Set<String> sampling = enforced(FailureMode.SAMPLE);
        if (!sampling.isEmpty()) {
            warnings.add("WEIR-011 while the store does not answer, " + sampling
                    + " (on-failure=sample) let every call through, one in ratelimit.instances=1;"
                    + " set ratelimit.instances to how many run, or use another mode");
        }
    }

    /** The policies that refuse calls and have a failure mode. */
    private Set<String> enforced(FailureMode mode) {
        Set<String> names = new TreeSet<>();
        rulebook.policies().values().stream()
                .filter(policy -> policy.mode() == Policy.Mode.ENFORCE && policy.onFailure() == mode)
                .forEach(policy -> names.add(policy.name()));
        return names;
    }

    private void ofTrust() {
        settings.trustedProxies().stream()
                .filter(EVERYONE::contains)
                .forEach(range -> warnings.add("WEIR-007 ratelimit.trusted-proxies has " + range
                        + ": everyone is believed, so a client chooses its address; name the proxies"));
        EVERYONE.stream()
                .filter(rulebook.bypass()::hasRange)
                .forEach(range -> warnings.add(
                        "WEIR-007 ratelimit.bypass.addresses has " + range + ": everyone is let past all limits"));
    }

    private void ofHeaders() {
        Set<String> policies = new TreeSet<>();
        rulebook.policies().values().stream()
                .filter(policy -> policy.key().usesHeader())
                .forEach(policy -> policies.add(policy.name()));
        if (!policies.isEmpty() && settings.keySecret().isEmpty()) {
            warnings.add("WEIR-008 the keys of " + policies
                    + " are of headers, whose values are stored hashed without a secret, so that guesses can be tried;"
                    + " set ratelimit.key-secret");
        }
    }

    private void ofCosts(List<MethodRule> rules) {
        for (Policy policy : new TreeMap<>(rulebook.policies()).values()) {
            for (PolicyLimits limits : limits(policy)) {
                OptionalLong least = limits.limits().stream()
                        .mapToLong(Limit::capacity)
                        .filter(capacity -> capacity > 0)
                        .min();
                OptionalLong most = costs(policy, rules).max();
                if (least.isPresent() && most.isPresent() && most.getAsLong() > least.getAsLong()) {
                    warnings.add("WEIR-009 the policy " + limits + " holds " + least.getAsLong()
                            + " permits, so a call that costs " + most.getAsLong() + " is refused for ever");
                }
            }
        }
    }

    private static List<PolicyLimits> limits(Policy policy) {
        return Stream.concat(
                        Stream.of(policy.limits()), new TreeMap<>(policy.tiers().limits()).values().stream())
                .toList();
    }

    /** What calls spend that are known of before they come. */
    private LongStream costs(Policy policy, List<MethodRule> rules) {
        LongStream ofMethods = rules.stream()
                .filter(rule -> rule.policies().contains(policy.name()))
                .mapToLong(rule ->
                        rulebook.costs().getOrDefault(rule.endpoint(), rule.cost() > 0 ? rule.cost() : policy.cost()));
        LongStream ofPaths = policy.rule().stream()
                .flatMap(rule -> Stream.concat(
                        rule.costs().values().stream(),
                        rule.paths().isEmpty() && !rule.byDefault() ? Stream.empty() : Stream.of(policy.cost())))
                .mapToLong(Long::longValue);
        return LongStream.concat(ofMethods, ofPaths);
    }

    private void ofConsole() {
        ConsoleSettings console = settings.console();
        if (!console.enabled()) {
            return;
        }
        if (console.open()) {
            warnings.add(
                    "WEIR-013 the operators' page is open to everybody (ratelimit.console.open), who can see and reset"
                            + " callers; that is for demonstrations");
        } else if (console.role().isEmpty()) {
            warnings.add("WEIR-012 the operators' page is enabled and nobody may see it; set ratelimit.console.role");
        }
        if (!isConsoleHere()) {
            warnings.add(
                    "WEIR-014 the operators' page is enabled (ratelimit.console.enabled), and the application does not"
                            + " have it; add the jar weir-console");
        }
    }

    /** In an EAR, the page can be in a WAR's library and this one in the EAR's. */
    private static boolean isConsoleHere() {
        return Stream.of(
                        StartWarnings.class.getClassLoader(),
                        Thread.currentThread().getContextClassLoader())
                .filter(Objects::nonNull)
                .anyMatch(StartWarnings::hasConsole);
    }

    private static boolean hasConsole(ClassLoader loader) {
        try {
            Class.forName(CONSOLE, false, loader);
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    private void ofSources(Set<String> policiesOfSources) {
        policiesOfSources.stream()
                .filter(name -> !rulebook.policies().containsKey(name))
                .forEach(name -> warnings.add("WEIR-315 a PolicySource has limits for the policy " + name
                        + ", which does not exist; it is one of "
                        + new TreeSet<>(rulebook.policies().keySet())
                        + " or comes with a change of configuration"));
    }
}
