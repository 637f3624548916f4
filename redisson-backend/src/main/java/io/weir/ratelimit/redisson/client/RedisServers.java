// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

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
 * The servers of {@code ratelimit.redis.address}, at least one. A single address is a standalone server. Several addresses are nodes of one
 * cluster; any of them that replies names the other nodes.
 */
record RedisServers(List<RedisAddress> addresses) {
    /** A user or a password may contain a comma, so the next address begins with a scheme. */
    private static final Pattern BETWEEN = Pattern.compile("\\s*,\\s*(?=rediss?://)");

    /** The timeout of the client. A call waits until its deadline only; the timeout bounds what it leaves behind. */
    private static final int CLIENT_TIMEOUT_MILLIS = 1_000;

    /**
     * The interval at which the client checks an idle connection. A connection that is open but dead, for example behind a firewall that
     * has dropped it, is replaced within twice this time. By default it would fail calls for one minute.
     */
    private static final int PING_INTERVAL_MILLIS = 1_000;

    /** The longest time for which a new master stays unknown if no redirection names it. */
    private static final int SCAN_INTERVAL_MILLIS = 1_000;

    private static final int IDLE_CONNECTIONS = 8;

    /** User and password of a client. */
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

    /** Parses one address, or several separated by commas; empty if there is a problem. */
    static Optional<RedisServers> read(String text, String place, List<ConfigurationProblem> problems) {
        List<ConfigurationProblem> found = new ArrayList<>();
        List<RedisAddress> addresses = new ArrayList<>();
        for (String part : BETWEEN.split(text, -1)) {
            try {
                addresses.add(RedisAddress.parse(part));
            } catch (IllegalArgumentException e) {
                found.add(MESSAGES.problem(
                        "WEIR-403.address", place, RedisAddress.masked(part), String.valueOf(e.getMessage())));
            }
        }
        if (addresses.size() > 1) {
            checkTogether(addresses, place, RedisAddress.masked(text), found);
        }
        problems.addAll(found);
        return found.isEmpty() ? Optional.of(new RedisServers(addresses)) : Optional.empty();
    }

    private static void checkTogether(
            List<RedisAddress> addresses, String place, String masked, List<ConfigurationProblem> problems) {
        if (addresses.stream().map(RedisAddress::tls).distinct().count() > 1) {
            problems.add(MESSAGES.problem("WEIR-403.scheme", place, masked));
        }
        if (addresses.stream().map(Login::of).filter(Login::given).distinct().count() > 1) {
            problems.add(MESSAGES.problem("WEIR-403.login", place, masked));
        }
        if (addresses.stream().anyMatch(address -> address.database() != 0)) {
            problems.add(MESSAGES.problem("WEIR-403.database", place, masked));
        }
    }

    /** Returns the configuration of the client. */
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
        // Only scripts run here, on the threads of Netty.
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
                // If some slots have no master, the keys of other slots are still available.
                .setCheckSlotsCoverage(false)
                // Together these settings open no connections to replicas.
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
