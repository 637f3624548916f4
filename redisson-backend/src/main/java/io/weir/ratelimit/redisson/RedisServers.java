// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.ShardedSubscriptionMode;
import org.redisson.config.SubscriptionMode;

/**
 * The servers of {@code ratelimit.redis.address}: one is a server by itself, several are nodes of one cluster, of which any
 * that answers tells the others.
 *
 * @param addresses at least one
 */
record RedisServers(List<RedisAddress> addresses) {
    /** A user or password may hold a comma: the next address begins where a scheme does. */
    private static final Pattern BETWEEN = Pattern.compile("\\s*,\\s*(?=rediss?://)");

    /** How long the client itself waits. A request waits for the deadline only; this bounds what it leaves behind. */
    private static final int CLIENT_TIMEOUT_MILLIS = 1_000;

    /**
     * How often the client asks an idle connection whether it is still there. One that nobody has closed and that answers no more,
     * as behind a firewall that has forgotten it, is replaced within twice that time; by default it would fail calls for a minute.
     */
    private static final int PING_INTERVAL_MILLIS = 1_000;

    /** How long a replica that took over stays unknown where no redirection tells of it. */
    private static final int SCAN_INTERVAL_MILLIS = 1_000;

    private static final int IDLE_CONNECTIONS = 8;

    /** Who a client says it is. */
    private record Login(Optional<String> user, Optional<String> password) {
        static Login of(RedisAddress address) {
            return new Login(address.user(), address.password());
        }

        boolean given() {
            return user.isPresent() || password.isPresent();
        }
    }

    RedisServers {
        addresses = List.copyOf(addresses);
    }

    /**
     * Reads addresses.
     *
     * @param text one, or several separated by commas
     * @param place the property they come from
     * @param problems takes everything that is wrong
     * @return the servers, if nothing is wrong
     */
    static Optional<RedisServers> read(String text, String place, List<ConfigurationProblem> problems) {
        List<ConfigurationProblem> found = new ArrayList<>();
        List<RedisAddress> addresses = new ArrayList<>();
        for (String part : BETWEEN.split(text, -1)) {
            try {
                addresses.add(RedisAddress.parse(part));
            } catch (IllegalArgumentException e) {
                found.add(problem(
                        place,
                        RedisAddress.masked(part),
                        String.valueOf(e.getMessage()),
                        "percent-encode special characters of the password"));
            }
        }
        if (addresses.size() > 1) {
            fit(addresses, place, RedisAddress.masked(text), found);
        }
        problems.addAll(found);
        return found.isEmpty() ? Optional.of(new RedisServers(addresses)) : Optional.empty();
    }

    private static void fit(
            List<RedisAddress> addresses, String place, String shown, List<ConfigurationProblem> problems) {
        if (addresses.stream().map(RedisAddress::tls).distinct().count() > 1) {
            problems.add(problem(
                    place, shown, "mixes redis:// and rediss://", "write the same scheme for all nodes of a cluster"));
        }
        if (addresses.stream().map(Login::of).filter(Login::given).distinct().count() > 1) {
            problems.add(problem(
                    place,
                    shown,
                    "names several users or passwords",
                    "nodes of a cluster share one: write it in one address, or the same in all"));
        }
        if (addresses.stream().anyMatch(address -> address.database() != 0)) {
            problems.add(problem(
                    place,
                    shown,
                    "names a database",
                    "leave it out: a cluster, which several addresses are, has only 0"));
        }
    }

    private static ConfigurationProblem problem(String place, String value, String problem, String remedy) {
        return new ConfigurationProblem("WEIR-403", place, value, problem, remedy);
    }

    /** The client's configuration. */
    Config config() {
        Config config = new Config();
        addresses.stream().map(Login::of).filter(Login::given).findFirst().ifPresent(login -> {
            login.user().ifPresent(config::setUsername);
            login.password().ifPresent(config::setPassword);
        });
        if (addresses.size() == 1) {
            single(config, addresses.get(0));
        } else {
            cluster(config);
        }
        // Scripts are all that runs here, on the threads of Netty.
        return config.setThreads(2)
                .setNettyThreads(Math.max(2, Runtime.getRuntime().availableProcessors()));
    }

    private static void single(Config config, RedisAddress address) {
        bounded(config.useSingleServer())
                .setAddress(address.server())
                .setDatabase(address.database())
                .setConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                .setSubscriptionConnectionMinimumIdleSize(0);
    }

    private void cluster(Config config) {
        bounded(config.useClusterServers())
                .addNodeAddress(addresses.stream().map(RedisAddress::server).toArray(String[]::new))
                .setScanInterval(SCAN_INTERVAL_MILLIS)
                // Where some slots have no master, the keys of the others are still decided.
                .setCheckSlotsCoverage(false)
                // Together these leave replicas without connections.
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setShardedSubscriptionMode(ShardedSubscriptionMode.OFF)
                .setMasterConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                .setSlaveConnectionMinimumIdleSize(0)
                .setSubscriptionConnectionMinimumIdleSize(0);
    }

    private static <T extends BaseConfig<T>> T bounded(T servers) {
        return servers.setTimeout(CLIENT_TIMEOUT_MILLIS)
                .setConnectTimeout(CLIENT_TIMEOUT_MILLIS)
                .setPingConnectionInterval(PING_INTERVAL_MILLIS)
                .setRetryAttempts(0);
    }
}
