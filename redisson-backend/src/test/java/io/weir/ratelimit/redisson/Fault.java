// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

/** Faults of a Redis under load, in the order and the words of the table in {@code docs/reference/failures.md}. */
enum Fault {
    ABSENT("absent when the application starts"),
    KILLED("killed and started again"),
    STOPPED("stopped (`SIGSTOP`)"),
    FLAPPING("flapping: 1 s up, 1 s down"),
    SLOW("500 ms of latency"),
    SILENT("half-open TCP: accepts and never answers"),
    CONNECTIONS_RESET("connections reset"),
    FLUSHED("`SCRIPT FLUSH` every 100 ms"),
    OUT_OF_MEMORY("`maxmemory` reached, `noeviction`"),
    BUSY("busy with another application's script (`BUSY`)"),
    LOADING("loading its data (`LOADING`)"),
    READ_ONLY("made a replica (`READONLY`)"),
    CLUSTER_FAILOVER("`CLUSTER FAILOVER`, then a dead master"),
    SENTINEL_FAILOVER("`SENTINEL FAILOVER`, then a dead master"),
    SLOT_MOVES("a slot moves to another master"),
    PASSWORD_CHANGED("password changed while running"),
    PASSWORD_WRONG("wrong password at the start"),
    PERMISSION_REMOVED("permission for `EVALSHA` removed while running"),
    FOREIGN("another type under the key, then invalid data");

    final String words;

    Fault(String words) {
        this.words = words;
    }
}
