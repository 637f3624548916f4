// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** The blocks and the penalties of keys. */
final class LocalBlocks {
    private final StateTable table;
    private final TimeSource time;
    private final PenaltyCounts penalties;
    private final String tooManyBlocks;

    LocalBlocks(StateTable table, TimeSource time, int maxKeys) {
        this.table = table;
        this.time = time;
        this.penalties = new PenaltyCounts(maxKeys);
        this.tooManyBlocks =
                "the local backend cannot block more than " + maxKeys + " keys at once (ratelimit.local.max-keys)";
    }

    /** Blocks a key, unless it is blocked for longer. Throws a {@link BackendException} if too many keys are blocked. */
    Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        long length = BlockedState.micros(duration);
        Charge charge = new Charge(policy, storedKey, 1);
        return table.locked(List.of(charge), () -> {
            long now = time.micros();
            return Duration.of(blockLocked(charge, now + length, now) - now, ChronoUnit.MICROS);
        });
    }

    /** Blocks a key whose shards are locked, and returns the end of the block. */
    private long blockLocked(Charge charge, long endMicros, long nowMicros) {
        PolicyLimits policy = charge.policy();
        long end = table.blocks().block(policy.policy(), charge.storedKey(), endMicros, nowMicros);
        if (end == 0) {
            throw new BackendException(BackendException.Reason.FULL, tooManyBlocks, null);
        }
        for (int i = 0; i < policy.limits().size(); i++) {
            table.renew(StateKey.of(charge, i));
        }
        return end;
    }

    /**
     * Counts rejections of a key, and returns the penalty that they lead to, if any. Throws a {@link BackendException} if too many keys are
     * blocked.
     */
    Optional<BlocksKeys.Penalty> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        Charge charge = new Charge(policy, storedKey, 1);
        return table.locked(List.of(charge), () -> {
            long now = time.micros();
            int number = table.blocks().end(policy.policy(), storedKey, now) > 0
                    ? 0
                    : penalties.count(policy.policy(), storedKey, rejections, rule, now);
            if (number == 0) {
                return Optional.empty();
            }
            long end = blockLocked(charge, now + BlockedState.micros(rule, number - 1), now);
            return Optional.of(new BlocksKeys.Penalty(Duration.of(end - now, ChronoUnit.MICROS), number));
        });
    }

    /** Ends the block of a key and forgets its penalties. */
    void unblock(PolicyLimits policy, String storedKey) {
        table.locked(List.of(new Charge(policy, storedKey, 1)), () -> forget(policy, storedKey));
    }

    /** Ends the block of a key whose shards are locked, and forgets its penalties. */
    void forget(PolicyLimits policy, String storedKey) {
        table.blocks().unblock(policy.policy(), storedKey);
        penalties.forget(policy.policy(), storedKey);
    }
}
