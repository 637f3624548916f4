// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Each decision of Redis after a block is a rejection until the end of the block, and only a block labels a rejection as one (penalties.md,
 * "Blocks"). An unblock takes effect on other instances within one second. A loss of data ends the block, but an instance can repeat it. A
 * failover can undo an unblock (data-loss.md). A step of the clock of Redis moves the end (clocks.md).
 */
public final class BlockPromise implements Promise {
    /** The second after which an instance asks Redis again, and the time of that call. */
    private static final Duration UNBLOCKED_WITHIN = Duration.ofSeconds(2);

    @Override
    public String name() {
        return "blocks";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<Operation>> blocks =
                history.bySubject(operation -> operation.kind() == Kind.BLOCK || operation.kind() == Kind.UNBLOCK);
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                        && !history.policy(operation).more().containsKey("penalty.after")
                        && (operation.outcome() == Outcome.ALLOWED || operation.outcome() == Outcome.BLOCKED))
                .forEach((key, calls) -> calls.stream()
                        .filter(call -> call.outcome() == Outcome.ALLOWED
                                ? isSurelyBlocked(history, blocks.getOrDefault(key, List.of()), call)
                                : !canBeBlocked(history, blocks.getOrDefault(key, List.of()), call))
                        .findFirst()
                        .map(call -> new Violation(
                                name(),
                                call,
                                call.outcome() == Outcome.ALLOWED ? "allowed while blocked" : "not blocked"))
                        .ifPresent(violations::add));
        return violations;
    }

    private static boolean isSurelyBlocked(History history, List<Operation> blocks, Operation call) {
        return blocks.stream()
                .filter(block -> block.kind() == Kind.BLOCK && block.outcome() == Outcome.DONE)
                .filter(block -> block.end() < call.start() && block.start() + block.amount() > call.end())
                .filter(block -> !history.isRenewed(block.start(), call.end()))
                .anyMatch(block -> blocks.stream()
                        .noneMatch(unblock -> unblock.kind() == Kind.UNBLOCK
                                && Math.max(unblock.end(), history.latest(unblock)) > block.start()
                                && unblock.start() < call.end()));
    }

    private static boolean canBeBlocked(History history, List<Operation> blocks, Operation call) {
        return blocks.stream()
                .filter(block -> block.kind() == Kind.BLOCK && block.start() < call.end())
                .filter(block -> history.latest(block) + block.amount() + history.extension(block.start(), call.end())
                        > call.start())
                .anyMatch(block -> blocks.stream()
                        .noneMatch(unblock -> unblock.kind() == Kind.UNBLOCK
                                && unblock.outcome() == Outcome.DONE
                                && unblock.start() > history.latest(block)
                                && !history.has(Fault.ALL, Effect.ROLLBACK, unblock.start(), unblock.end())
                                && unblock.end() + UNBLOCKED_WITHIN.toNanos() < call.start()
                                && history.cutOff(call.instance(), Duration.ZERO).stream()
                                        .noneMatch(span -> span.overlaps(
                                                unblock.start()
                                                        - history.recovery().toNanos(),
                                                call.end()))));
    }
}
