// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/** The charges of a receipt as bytes: their limits, and the numbers by which a later settlement recognizes each charge. */
final class EdgeReceiptCodec {
    private static final int VERSION = 1;
    private static final String CALENDAR = "calendar";

    private EdgeReceiptCodec() {}

    static void write(List<ChargeStates> charged, DataOutputStream out) throws IOException {
        out.writeByte(VERSION);
        out.writeShort(charged.size());
        for (ChargeStates each : charged) {
            Charge charge = each.charge();
            out.writeUTF(charge.policy().policy());
            out.writeUTF(charge.policy().tier());
            out.writeUTF(charge.storedKey());
            out.writeLong(charge.cost());
            out.writeBoolean(charge.shadow());
            out.writeByte(each.states().size());
            for (int i = 0; i < each.states().size(); i++) {
                writeLimit(charge.policy().limits().get(i), out);
                writeState(each.states().get(i), out);
            }
        }
    }

    private static void writeLimit(Limit limit, DataOutputStream out) throws IOException {
        if (limit instanceof CalendarLimit calendar) {
            out.writeUTF(CALENDAR);
            out.writeLong(calendar.permits());
            out.writeUTF(calendar.period().unit().name());
            out.writeUTF(calendar.period().zone().getId());
            out.writeByte(calendar.period().anchor());
        } else if (limit instanceof WindowLimit window) {
            out.writeUTF(window.algorithm().name());
            out.writeLong(window.permits());
            out.writeLong(window.window().toNanos());
            out.writeLong(window.capacity());
        } else {
            throw new IOException("a limit of calls at once has no receipt");
        }
    }

    private static void writeState(LimitState state, DataOutputStream out) throws IOException {
        long[] numbers = new long[3];
        StoredStates.charged(state, (first, second, third) -> {
            numbers[0] = first;
            numbers[1] = second;
            numbers[2] = third;
        });
        for (long number : numbers) {
            out.writeLong(number);
        }
    }

    /** Reads charges. Throws an {@link IOException} if the bytes have another form, such as that of another version. */
    static List<ChargeStates> read(DataInputStream in) throws IOException {
        if (in.readByte() != VERSION) {
            throw new IOException("another version");
        }
        try {
            int size = in.readUnsignedShort();
            List<ChargeStates> charged = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                charged.add(readCharge(in));
            }
            return charged;
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new IOException("another form", e);
        }
    }

    private static ChargeStates readCharge(DataInputStream in) throws IOException {
        String policy = in.readUTF();
        String tier = in.readUTF();
        String storedKey = in.readUTF();
        long cost = in.readLong();
        boolean shadow = in.readBoolean();
        int size = in.readUnsignedByte();
        List<Limit> limits = new ArrayList<>();
        List<LimitState> states = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Limit limit = readLimit(in);
            limits.add(limit);
            states.add(state(limit, cost, in.readLong(), in.readLong(), in.readLong()));
        }
        Charge charge = new Charge(new PolicyLimits(policy, tier, limits), storedKey, cost);
        return new ChargeStates(shadow ? charge.asShadow() : charge, states);
    }

    private static Limit readLimit(DataInputStream in) throws IOException {
        String kind = in.readUTF();
        long permits = in.readLong();
        if (kind.equals(CALENDAR)) {
            CalendarPeriod.Unit unit = CalendarPeriod.Unit.valueOf(in.readUTF());
            return Limit.of(permits, new CalendarPeriod(unit, ZoneId.of(in.readUTF()), in.readByte()));
        }
        Algorithm algorithm = Algorithm.valueOf(kind);
        Duration window = Duration.ofNanos(in.readLong());
        WindowLimit limit = Limit.of(algorithm, permits, window);
        long capacity = in.readLong();
        return capacity == limit.capacity() ? limit : Limit.of(algorithm, permits, window, capacity);
    }

    private static LimitState state(Limit limit, long cost, long first, long second, long third) {
        if (!(limit instanceof WindowLimit window)) {
            return StoredStates.calendar(first, cost, first, first, false);
        }
        return switch (window.algorithm()) {
            case FIXED_WINDOW -> StoredStates.fixedWindow(first, second, false);
            case SLIDING_WINDOW -> StoredStates.slidingWindow(first, second, third, false);
            case TOKEN_BUCKET, LEAKY_BUCKET -> StoredStates.bucket(first, second, (int) third, false);
            case SLIDING_LOG -> StoredStates.log(limit, cost, first, first);
        };
    }
}
