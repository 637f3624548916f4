// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.Current;
import io.weir.ratelimit.core.events.KnownBlocks.Block;
import io.weir.ratelimit.core.events.KnownBlocks.Cause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The blocked keys that instances know of, the last end first. Of several reports about a key, the one of the instance that has met its
 * block last applies. They are complete if no instance can have left out blocks.
 */
record FleetBlocks(List<BlockedKey> keys, boolean complete) {
    /** The difference of two ends, or of the ages of two reports, that means nothing. */
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    FleetBlocks {
        keys = List.copyOf(keys);
    }

    /** A blocked key, with the rest and the age of now, and the number of instances that list it. */
    record BlockedKey(Block block, int instances) {}

    private record Key(String policy, String storedKey) {}

    static FleetBlocks of(Fleet fleet) {
        Map<Key, List<Block>> reported = new HashMap<>();
        boolean complete = true;
        for (Fleet.Member member : fleet.reporting()) {
            Current current = member.report().current();
            List<Block> blocks = current.blocks();
            // The list of this instance has not been in a report, whose bytes could end it.
            complete &= member.self() ? blocks.size() < Current.MAX_BLOCKS : !current.canLackBlocks();
            for (Block block : blocks) {
                Block now = block.later(member.age());
                if (!now.rest().isNegative() && !now.rest().isZero()) {
                    reported.computeIfAbsent(new Key(block.policy(), block.storedKey()), first -> new ArrayList<>())
                            .add(now);
                }
            }
        }
        List<BlockedKey> keys = new ArrayList<>();
        reported.values().forEach(blocks -> merged(blocks).ifPresent(keys::add));
        keys.sort(Comparator.comparing((BlockedKey key) -> key.block.rest())
                .reversed()
                .thenComparing(key -> key.block.policy())
                .thenComparing(key -> key.block.storedKey()));
        return new FleetBlocks(keys, complete);
    }

    /** Merges the reports about a key; empty if its block was ended. */
    private static Optional<BlockedKey> merged(List<Block> blocks) {
        Optional<Duration> ended = blocks.stream()
                .filter(block -> block.cause() == Cause.ENDED)
                .map(Block::seen)
                .min(Comparator.naturalOrder());
        // After the end, other instances can meet known rejections for a moment, and their clocks differ.
        List<Block> met = blocks.stream()
                .filter(block -> block.cause() != Cause.ENDED)
                .filter(block -> ended.map(end -> block.seen().plus(TOLERANCE).compareTo(end) < 0)
                        .orElse(true))
                .toList();
        return met.stream().min(Comparator.comparing(Block::seen)).map(last -> {
            List<Block> same = met.stream()
                    .filter(block -> block.rest().minus(last.rest()).abs().compareTo(TOLERANCE) <= 0)
                    .toList();
            Block named = same.stream()
                    .filter(block -> block.cause() != Cause.UNKNOWN)
                    .min(Comparator.comparing(Block::cause).thenComparing(Block::seen))
                    .orElse(last);
            return new BlockedKey(named, same.size());
        });
    }
}
