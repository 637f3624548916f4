// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A reader of the configuration of all REST clients. */
public final class ClientReader {
    private static final String CLIENTS = "ratelimit.clients.";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Set<String> ATTRIBUTES = ConfigKeys.all().stream()
            .filter(ConfigKey::isOfClient)
            .map(key -> key.of("").name().substring(CLIENTS.length() + 1))
            .collect(Collectors.toCollection(TreeSet::new));

    private final ConfigReader reader;
    private final Map<String, KeyResolver> resolvers;

    private ClientReader(ConfigReader reader, Map<String, KeyResolver> resolvers) {
        this.reader = reader;
        this.resolvers = resolvers;
    }

    /** Reads the valid clients by name, also those that annotations name, each with the annotated type. */
    public static Map<String, OutgoingClient> read(
            ConfigProperties config,
            Map<String, String> annotated,
            Map<String, KeyResolver> resolvers,
            Problems problems) {
        return new ClientReader(new ConfigReader(config, problems), resolvers).read(annotated);
    }

    private Map<String, OutgoingClient> read(Map<String, String> annotated) {
        Set<String> configured = configured();
        Map<String, OutgoingClient> clients = new TreeMap<>();
        configured.forEach(
                name -> read(name, Optional.empty(), configured).ifPresent(client -> clients.put(name, client)));
        new TreeMap<>(annotated).forEach((name, place) -> {
            if (!NAME.matcher(name).matches()) {
                reader.report(MESSAGES.problem("WEIR-233", place, name));
            } else if (!configured.contains(name)) {
                // Environment variables do not determine the names of properties.
                read(name, Optional.of(place), configured).ifPresent(client -> clients.put(name, client));
            }
        });
        return clients;
    }

    /** Finds the clients that properties name, and reports names that are no property of a client. */
    private Set<String> configured() {
        Set<String> clients = new TreeSet<>();
        for (String property : reader.names()) {
            if (property.startsWith(CLIENTS)) {
                String[] parts = property.substring(CLIENTS.length()).split("\\.", 2);
                if (parts.length < 2 || !NAME.matcher(parts[0]).matches()) {
                    reader.report(MESSAGES.problem("WEIR-231", property, ""));
                } else if (!ATTRIBUTES.contains(parts[1])) {
                    reader.report(MESSAGES.problem("WEIR-230", property, "", ATTRIBUTES));
                } else {
                    clients.add(parts[0]);
                }
            }
        }
        for (String name : reader.optional(ConfigKeys.CLIENT_NAMES).orElse(List.of())) {
            if (NAME.matcher(name).matches()) {
                clients.add(name);
            } else {
                reader.report(MESSAGES.problem("WEIR-233", ConfigKeys.CLIENT_NAMES.name(), name));
            }
        }
        return clients;
    }

    private Optional<OutgoingClient> read(String name, Optional<String> annotated, Set<String> configured) {
        ConfigKey<List<String>> policy = ConfigKeys.CLIENT_POLICY.of(name);
        List<String> policies =
                reader.optional(policy).orElse(List.of()).stream().distinct().toList();
        if (policies.isEmpty()) {
            reader.report(annotated
                    .map(place -> MESSAGES.problem("WEIR-232.annotation", place, "", name, policy.name(), configured))
                    .orElseGet(() -> MESSAGES.problem("WEIR-232", policy.name(), "", name)));
        }
        List<String> obeyed = reader.value(ConfigKeys.CLIENT_OBEY.of(name));
        OutgoingClient client = new OutgoingClient(
                name,
                policies,
                key(name),
                obeyed.contains("retry-after"),
                obeyed.contains("ratelimit"),
                reader.value(ConfigKeys.CLIENT_RETRY_BUDGET.of(name)),
                reader.value(ConfigKeys.CLIENT_MAX_PAUSE.of(name)));
        return policies.isEmpty() ? Optional.empty() : Optional.of(client);
    }

    private ClientKey key(String client) {
        ConfigKey<String> property = ConfigKeys.CLIENT_KEY.of(client);
        String text = reader.value(property);
        try {
            return ClientKey.parse(text, resolvers);
        } catch (IllegalArgumentException e) {
            reader.report(MESSAGES.problem("WEIR-234", property.name(), text, String.valueOf(e.getMessage())));
            return ClientKey.parse(property.defaultText(), resolvers);
        }
    }
}
