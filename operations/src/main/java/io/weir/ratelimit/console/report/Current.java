// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.core.events.KnownBlocks.Block;
import io.weir.ratelimit.core.events.KnownBlocks.Cause;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.codec.Codec;
import io.weir.ratelimit.spi.BlocksKeys;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The running calls per policy with a concurrency limit, the most calls first, and the blocks that the instance knows of: those that were
 * ended, and then those with the last ends.
 */
public record Current(List<RunningCalls> running, List<Block> blocks) {
    /** The greatest number of blocks, including those that were ended. */
    public static final int MAX_BLOCKS = 50;

    private static final int RUNNING_BYTES = 3_000;
    private static final int BLOCKS_BYTES = 6_000;

    /** The bytes of the longest block. A name of a policy can have three bytes per character, a stored key has one. */
    private static final int LONGEST_BLOCK_BYTES = 50 + 4 * ReportCodec.MAX_NAME;

    /** The longest rest of a block: the backend can round it up. */
    private static final Duration LONGEST_REST = BlocksKeys.MAX_BLOCK.plusDays(1);

    private static final Map<String, Cause> CAUSES =
            Stream.of(Cause.values()).collect(Collectors.toUnmodifiableMap(Cause::name, Function.identity()));

    /** The cause of a block. A later version can have further causes. */
    private static final Codec<Cause> CAUSE =
            Codec.TEXT.as(cause -> CAUSES.getOrDefault(cause, Cause.UNKNOWN), Cause::name);

    private static final Codec<Duration> REST = ReportCodec.DURATION.where(rest -> rest.compareTo(LONGEST_REST) <= 0);

    private static final Codec<Block> BLOCK = Codec.of(block -> new Block(
            block.next(ReportCodec.NAME, Block::policy),
            block.next(ReportCodec.KEY, Block::storedKey),
            block.next(CAUSE, Block::cause),
            block.next(REST, Block::rest),
            block.next(ReportCodec.DURATION, Block::seen),
            block.next(ReportCodec.NUMBER, Block::penalty),
            block.next(REST, Block::length)));

    private static final Codec<RunningCalls> RUNNING = Codec.of(running -> new RunningCalls(
            running.next(ReportCodec.NAME, RunningCalls::policy),
            running.next(ReportCodec.COUNT, RunningCalls::calls)));

    static final Codec<Current> CODEC = Codec.of(current -> new Current(
            current.next(ReportCodec.within(RUNNING_BYTES, RUNNING), Current::running),
            current.next(
                    ReportCodec.within(BLOCKS_BYTES, BLOCK).where(blocks -> blocks.size() <= MAX_BLOCKS),
                    Current::blocks)));

    public Current {
        running = List.copyOf(running);
        blocks = List.copyOf(blocks);
    }

    /** The running calls under a policy with a concurrency limit. */
    public record RunningCalls(String policy, long calls) {}

    static Current of(Operations operations) {
        return new Current(
                operations.runningCalls().entrySet().stream()
                        .filter(running -> ReportBuilder.isReported(running.getKey()))
                        .map(running -> new RunningCalls(running.getKey(), running.getValue()))
                        .sorted(Comparator.comparingLong(RunningCalls::calls).reversed())
                        .toList(),
                operations.blocks().list().stream()
                        .filter(block ->
                                ReportBuilder.isReported(block.policy()) && ReportBuilder.isReported(block.storedKey()))
                        .sorted(Comparator.comparing(block -> block.cause() != Cause.ENDED))
                        .limit(MAX_BLOCKS)
                        .toList());
    }

    /** Returns the running calls of all policies. */
    public long runningCalls() {
        return running.stream().mapToLong(RunningCalls::calls).sum();
    }

    /** Tests whether the list of blocks of a report can have ended before a block that the instance knows of. */
    public boolean canLackBlocks() {
        return blocks.size() >= MAX_BLOCKS
                || BLOCK.list(ReportCodec.NUMBER).bytes(ReportCodec.FORM, blocks).length + LONGEST_BLOCK_BYTES
                        > BLOCKS_BYTES;
    }
}
