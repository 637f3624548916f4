// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.redisson.config.Config;
import org.redisson.misc.RedisURI;

/** The configured servers of a client, for messages; none while the client is unknown, or if its topology has another form. */
record RedisEndpoints(List<RedisURI> servers) {
    /** The endpoints of a client that is not known. */
    static final RedisEndpoints UNKNOWN = new RedisEndpoints(List.of());

    RedisEndpoints {
        servers = List.copyOf(servers);
    }

    /** Reads the endpoints of a client. The methods of the configuration also create a topology, so only the existing one is read. */
    static RedisEndpoints of(Config config) {
        Collection<String> addresses = new ArrayList<>();
        if (config.isSingleConfig()) {
            Optional.ofNullable(config.useSingleServer().getAddress()).ifPresent(addresses::add);
        } else if (config.isClusterConfig()) {
            addresses.addAll(config.useClusterServers().getNodeAddresses());
        } else if (config.isSentinelConfig()) {
            addresses.addAll(config.useSentinelServers().getSentinelAddresses());
        }
        return new RedisEndpoints(
                addresses.stream().filter(RedisURI::isValid).map(RedisURI::new).toList());
    }

    /** Returns whether connections use TLS. */
    boolean tls() {
        return servers.stream().anyMatch(RedisURI::isSsl);
    }

    /** Returns the text for a message, such as {@code " at redis://host:6379"}. It does not contain logins. */
    @Override
    public String toString() {
        return servers.isEmpty()
                ? ""
                : servers.stream()
                        .map(server -> server.getScheme() + "://" + server.getHost() + ":" + server.getPort())
                        .collect(Collectors.joining(", ", " at ", ""));
    }
}
