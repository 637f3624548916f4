// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;
import java.util.Collection;
import java.util.Map;

/** The check for policies that outgoing calls cannot be under. */
public final class ClientPolicyCheck {
    private ClientPolicyCheck() {}

    /**
     * Checks the policies of all clients.
     *
     * @param clients the clients
     * @param policies the policies by name; a missing one is a problem of its own
     * @param config the configuration
     * @param problems collects the problems
     */
    public static void check(
            Collection<OutgoingClient> clients,
            Map<String, Policy> policies,
            ConfigProperties config,
            Problems problems) {
        for (OutgoingClient client : clients) {
            for (String name : client.policies()) {
                Policy policy = policies.get(name);
                PolicyProperties properties = new ConfigReader(config, problems).policy(name);
                if (policy != null && policy.count() != Policy.Count.ALWAYS) {
                    problems.add(MESSAGES.problem(
                            "WEIR-235.count",
                            properties.name(ConfigKeys.COUNT),
                            properties.text(ConfigKeys.COUNT).orElse(""),
                            name,
                            client.name()));
                }
                if (policy != null && policy.limits().lease() > 0) {
                    problems.add(MESSAGES.problem(
                            "WEIR-235.lease",
                            properties.name(ConfigKeys.LEASE),
                            properties.text(ConfigKeys.LEASE).orElse(""),
                            name,
                            client.name()));
                }
                // A REST client does not report a call that fails without a response, so its slot would be released
                // late.
                if (policy != null && policy.hasConcurrency()) {
                    problems.add(MESSAGES.problem(
                            "WEIR-235.concurrency",
                            properties.name(ConfigKeys.CONCURRENCY),
                            properties.text(ConfigKeys.CONCURRENCY).orElse(""),
                            name,
                            client.name()));
                }
            }
        }
    }
}
