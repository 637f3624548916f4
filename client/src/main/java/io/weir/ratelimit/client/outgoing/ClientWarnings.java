// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.key.Spelling;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The warnings about REST clients that nothing names, and about properties without an effect on outgoing calls. */
public record ClientWarnings(Map<String, OutgoingClient> clients, Set<String> annotated, ConfigProperties config) {
    private static final String CLIENTS = "ratelimit.clients.";
    private static final String TIERS = "tiers.";

    /** The attributes for the key of an incoming call and for its response. */
    private static final Set<String> OF_REQUESTS = Set.of(
            ConfigKeys.KEY.attribute(),
            ConfigKeys.TIER.attribute(),
            ConfigKeys.DISCLOSURE.attribute(),
            ConfigKeys.HELP.attribute());

    public ClientWarnings {
        clients = new TreeMap<>(clients);
    }

    /** Returns one message for each warning. */
    public List<MessageCatalog.Message> all(PolicySnapshot snapshot, ApplicationView application) {
        List<MessageCatalog.Message> warnings = new ArrayList<>();
        for (OutgoingClient client : clients.values()) {
            checkName(client.name(), warnings);
            checkPause(client, warnings);
            client.policies().stream()
                    .map(snapshot.policies()::get)
                    .filter(policy -> policy != null && policy.pathRule().isEmpty())
                    .filter(policy -> application.isUnused(policy.name()))
                    .forEach(policy -> checkPolicy(policy, client.name(), snapshot, warnings));
        }
        return warnings;
    }

    private void checkName(String client, List<MessageCatalog.Message> warnings) {
        if (annotated.contains(client)) {
            return;
        }
        String place = CLIENTS + client;
        warnings.add(Spelling.nearest(client, new TreeSet<>(annotated))
                .map(meant -> MESSAGES.message("WEIR-022.meant", place, client, meant))
                .orElseGet(() -> MESSAGES.message("WEIR-022", place, client)));
    }

    private void checkPause(OutgoingClient client, List<MessageCatalog.Message> warnings) {
        ConfigKey<?> pause = ConfigKeys.CLIENT_MAX_PAUSE.of(client.name());
        Optional<String> value = config.get(pause.name()).value();
        if (value.isPresent() && !client.obeysRetryAfter() && !client.obeysQuotas()) {
            ConfigKey<?> obey = ConfigKeys.CLIENT_OBEY.of(client.name());
            warnings.add(pause.withoutEffect(obey, obey.defaultText()));
        }
    }

    /** Checks a policy that only REST clients use. */
    private static void checkPolicy(
            Policy policy, String client, PolicySnapshot snapshot, List<MessageCatalog.Message> warnings) {
        String key = ConfigKeys.CLIENT_KEY.of(client).name();
        snapshot.origins().getOrDefault(policy.name(), List.of()).stream()
                .filter(origin -> !origin.isDefault())
                .filter(origin -> OF_REQUESTS.contains(origin.attribute())
                        || origin.attribute().startsWith(TIERS))
                .forEach(origin -> warnings.add(MESSAGES.message("WEIR-015.client", origin.property(), client, key)));
    }
}
