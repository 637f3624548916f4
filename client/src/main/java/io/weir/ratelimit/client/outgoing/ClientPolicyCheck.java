// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Collection;
import java.util.Map;

/** The check for policies that outgoing calls cannot be under. */
public final class ClientPolicyCheck {
    private ClientPolicyCheck() {}

    /** Checks the policies of all clients; a missing policy is a problem of its own. */
    public static void check(
            Collection<OutgoingClient> clients,
            Map<String, Policy> policies,
            ConfigProperties config,
            Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        for (OutgoingClient client : clients) {
            for (String name : client.policies()) {
                Policy policy = policies.get(name);
                if (policy != null && policy.count() != Policy.Count.ALWAYS) {
                    problems.add(problem("WEIR-235.count", ConfigKeys.COUNT, reader, name, client));
                }
                if (policy != null && policy.limits().lease() > 0) {
                    problems.add(problem("WEIR-235.lease", ConfigKeys.LEASE, reader, name, client));
                }
                // A REST client does not report a call that fails without a response, so its slot would be released
                // late.
                if (policy != null && policy.hasConcurrency()) {
                    problems.add(problem("WEIR-235.concurrency", ConfigKeys.CONCURRENCY, reader, name, client));
                }
            }
        }
    }

    private static ConfigurationProblem problem(
            String number, ConfigKey<?> key, ConfigReader reader, String policy, OutgoingClient client) {
        return MESSAGES.problem(
                number,
                reader.policy(policy).name(key),
                reader.policy(policy).text(key).orElse(""),
                policy,
                client.name());
    }
}
