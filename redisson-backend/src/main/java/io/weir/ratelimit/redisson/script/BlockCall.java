// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@code block.lua}, and its wire format. The header of the script describes it. The length is 0 if none is set, and the rule is
 * null if no rejections are counted.
 */
public record BlockCall(
        Operation operation,
        Charge charge,
        long lengthMicros,
        long rejections,
        @Nullable PenaltyRule rule) {
    /** Enough for all operations. */
    private static final int CAPACITY = 48;

    private static final int DONE = 1;
    private static final long MAX_COUNT = 0xFFFF_FFFFL;

    public enum Operation {
        /** Blocks the key. */
        BLOCK(1),
        /** Ends the block, and removes the penalties. */
        UNBLOCK(2),
        /** Counts rejections. */
        COUNT(3);

        private final int code;

        Operation(int code) {
            this.code = code;
        }
    }

    /** The result of a call. All instants are in microseconds of Redis's clock. */
    public record Result(long nowMicros, long endMicros, int penalty) {
        public long leftMicros() {
            return Math.max(0, endMicros - nowMicros);
        }
    }

    public static BlockCall block(Charge charge, long lengthMicros) {
        return new BlockCall(Operation.BLOCK, charge, lengthMicros, 0, null);
    }

    public static BlockCall unblock(Charge charge) {
        return new BlockCall(Operation.UNBLOCK, charge, 0, 0, null);
    }

    public static BlockCall count(Charge charge, long rejections, PenaltyRule rule) {
        return new BlockCall(Operation.COUNT, charge, rule.firstMicros(), rejections, rule);
    }

    /** Returns a charge whose key contains the penalties of another one. */
    private static Charge penaltiesOf(Charge charge) {
        PolicyLimits policy = charge.policy();
        return new Charge(
                new PolicyLimits("+penalty." + policy.policy(), policy.limits()), charge.storedKey(), charge.cost());
    }

    /** Returns the keys of the script. */
    public List<Charge> keys() {
        return operation == Operation.BLOCK ? List.of(charge) : List.of(charge, penaltiesOf(charge));
    }

    /** Encodes the argument at an instant, or by Redis's clock (0). */
    public byte[] encode(long nowMicros) {
        MessageBytes out = MessageBytes.withCapacity(CAPACITY);
        AcquireCodec.putForm(out, 0, nowMicros);
        out.put(operation.code, 1);
        out.put(lengthMicros, 7);
        if (rule != null) {
            out.put(Math.min(rejections, MAX_COUNT), 4);
            out.put(rule.rejections(), 4);
            out.put(rule.window().toMillis(), 5);
            out.put(rule.factor(), 2);
            out.put(rule.longestMicros(), 7);
        }
        return out.toArray();
    }

    /** Decodes the reply. Throws a {@link io.weir.ratelimit.spi.BackendException} if a key contains a foreign value. */
    public static Result decode(byte[] reply) {
        MessageBytes in = MessageBytes.of(reply);
        if (in.get(1) != DONE) {
            throw Batch.foreignState();
        }
        return new Result(in.get(7), in.get(7), (int) in.get(2));
    }
}
