// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.envoy.config.EnvoyConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** Selects the policies of descriptors: the rule of a configuration file, else those that an entry names, else a generic key. */
final class Selection {
    private static final String POLICY = "policy";
    private static final String GENERIC_KEY = "generic_key";

    /** The number of names in messages, because a client of the server chooses them. */
    private static final int MAX_REPORTED = 100;

    private static final int LONGEST_SHOWN = 200;

    /** The number and the length of domains in metrics, beside those of files, because each one has series of its own for ever. */
    private static final int MAX_DOMAINS = 100;

    private static final int LONGEST_DOMAIN = 128;
    private static final String OTHER_DOMAINS = "other";

    private final Supplier<Map<String, Policy>> policies;
    private final Function<Map<String, Policy>, EnvoyConfig> config;
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** The reported descriptors that no rule of a file fits. They have a place of their own, because such requests can be right. */
    private final Set<String> unmatched = ConcurrentHashMap.newKeySet();

    /** The domains that are in no file, and that metrics show. */
    private final Set<String> domains = ConcurrentHashMap.newKeySet();

    Selection(Supplier<Map<String, Policy>> policies, Function<Map<String, Policy>, EnvoyConfig> config) {
        this.policies = policies;
        this.config = config;
    }

    /**
     * The policies of a descriptor.
     *
     * @param policies the policies, empty if no limit applies
     * @param call the descriptor as a call
     * @param rule the rule of a configuration file
     */
    record Selected(List<Policy> policies, DescriptorCall call, Optional<EnvoyConfig.Match> rule) {
        /** Returns whether a configuration file states that no limit applies. */
        boolean isUnlimited() {
            return rule.filter(match -> match.rule().policy().isEmpty()).isPresent();
        }

        /** Returns whether the rule of another descriptor replaces this one. */
        boolean isReplacedBy(Selected other) {
            return rule.isPresent()
                    && other.rule.isPresent()
                    && other.rule
                            .get()
                            .rule()
                            .replaces()
                            .contains(rule.get().rule().name());
        }

        Selected without() {
            return new Selected(List.of(), call, Optional.empty());
        }
    }

    /**
     * Returns the endpoint of a domain in metrics and events.
     *
     * @param limited whether a request of the domain has limits, so that metrics contain it
     */
    String endpoint(String domain, boolean limited) {
        boolean shown = domain.length() <= LONGEST_DOMAIN
                && !domain.startsWith(MethodLimits.CLIENT)
                && (domains.contains(domain)
                        || config.apply(policies.get()).has(domain)
                        || (limited && domains.size() < MAX_DOMAINS && domains.add(domain)));
        return shown ? domain : OTHER_DOMAINS;
    }

    Selected of(String domain, RateLimitDescriptor descriptor) {
        Map<String, Policy> current = policies.get();
        DescriptorCall call = DescriptorCall.of(descriptor);
        EnvoyConfig files = config.apply(current);
        Optional<EnvoyConfig.Match> match = files.match(domain, descriptor.getEntriesList());
        if (match.isPresent()) {
            Optional<String> ofRule = match.get().rule().policy();
            return new Selected(
                    ofRule.flatMap(name -> known(current, domain, name)).stream()
                            .toList(),
                    call.with(match.get().values()),
                    match);
        }
        Optional<String> named = call.entry(POLICY);
        if (named.isPresent()) {
            return new Selected(
                    ConfigReader.list(named.get()).stream()
                            .distinct()
                            .flatMap(name -> known(current, domain, name).stream())
                            .toList(),
                    call,
                    Optional.empty());
        }
        if (files.has(domain)) {
            String keys = shown(descriptor.getEntriesList().stream()
                    .map(RateLimitDescriptor.Entry::getKey)
                    .toList()
                    .toString());
            String shown = shown(domain);
            warn(unmatched, shown + ' ' + keys, () -> MESSAGES.log("WEIR-721.file", shown, keys));
            return new Selected(List.of(), call, Optional.empty());
        }
        List<Policy> generic = descriptor.getEntriesList().stream()
                .filter(entry -> entry.getKey().equals(GENERIC_KEY))
                .map(RateLimitDescriptor.Entry::getValue)
                .distinct()
                .flatMap(name -> Optional.ofNullable(current.get(name)).stream())
                .filter(this::isEnforceable)
                .toList();
        if (generic.isEmpty()) {
            warn(shown(domain), () -> MESSAGES.log("WEIR-721", shown(domain)));
        }
        return new Selected(generic, call, Optional.empty());
    }

    private Optional<Policy> known(Map<String, Policy> current, String domain, String name) {
        Policy policy = current.get(name);
        if (policy == null) {
            String shown = shown(domain);
            warn(shown + ' ' + shown(name), () -> MESSAGES.log("WEIR-722", shown, shown(name)));
        }
        return Optional.ofNullable(policy).filter(this::isEnforceable);
    }

    /** Tests whether the server can decide a policy: it does not learn how a request ends. */
    private boolean isEnforceable(Policy policy) {
        if (policy.rollout().mode() == Policy.Mode.OFF) {
            return false;
        }
        boolean needsEnd = policy.hasConcurrency() || policy.count() != Policy.Count.ALWAYS;
        if (needsEnd) {
            warn("end " + policy.name(), () -> MESSAGES.log("WEIR-723", policy.name()));
        }
        return !needsEnd;
    }

    /** Reports a subject once. */
    void warn(String subject, Runnable message) {
        warn(reported, subject, message);
    }

    private static void warn(Set<String> reported, String subject, Runnable message) {
        if (reported.size() < MAX_REPORTED && reported.add(subject)) {
            message.run();
        }
    }

    /** Returns the beginning of a text of a client, for messages. */
    static String shown(String text) {
        return text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN) + '\u2026';
    }
}
