// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/** The servers of Redis of a run. */
public enum Topology {
    /** One server with a proxy in front of each instance. */
    SINGLE,
    /** A master and its replica, with three sentinels. */
    SENTINEL,
    /** Three masters of a cluster. */
    CLUSTER;

    /** All topologies. */
    static final Set<Topology> ALL = Set.of(values());

    /** Returns the topology with a name of the command line. */
    public static Topology named(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    /** Starts the servers. */
    Servers start(int instances, Path folder, boolean isStepped) {
        return switch (this) {
            case SINGLE -> new SingleRedis(instances, folder, isStepped);
            case SENTINEL -> new SentinelRedis(folder);
            case CLUSTER -> new ClusterRedis();
        };
    }
}
