// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.history;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;

/**
 * A fault that the nemesis has caused.
 *
 * @param name the name of the fault
 * @param effects what the fault can do, on which the exceptions of the promises depend
 * @param instance the number of the instance; {@link #ALL} if it concerns all
 * @param start an instant before the first effect
 * @param end an instant after which the cause is gone
 */
public record Fault(String name, Set<Effect> effects, int instance, long start, long end) {
    /** The instance of a fault that concerns all instances. */
    public static final int ALL = -1;

    /** The longest step of the clock of Redis. It is longer than the windows of a run, except a calendar limit. */
    public static final Duration MOST_STEP = Duration.ofSeconds(10);

    /** The name of what no nemesis has caused: other programs took the processors. */
    public static final String SLOW_MACHINE = "slow-machine";

    /** The name of a start on a machine that was too slow for it. */
    public static final String SLOW_START = "slow-start";

    /** The effects of faults. */
    public enum Effect {
        /** Replies of Redis can be late or missing. */
        OUTAGE,
        /** Redis loses data. */
        LOSS,
        /** Redis loses only data that it has received since the start of the fault. */
        ROLLBACK,
        /** The instance ends and is started again. */
        DEATH,
        /** The instance stands still. */
        PAUSE,
        /** The wall clock of the instance is wrong. */
        STEP,
        /** The clock of Redis steps forward by {@link #MOST_STEP} at most. */
        AHEAD,
        /** The clock of Redis steps back by {@link #MOST_STEP} at most. */
        BEHIND,
        /** Processes wait for a processor. */
        STARVATION
    }

    /** Copies the set. */
    public Fault {
        effects = Set.copyOf(effects);
    }

    /** Returns whether the fault has an effect on an instance. */
    public boolean affects(int number, Effect effect) {
        return effects.contains(effect) && (instance == ALL || instance == number || number == ALL);
    }

    /** Returns whether the machine was too slow. */
    public boolean isSlow() {
        return name.equals(SLOW_MACHINE) || name.equals(SLOW_START);
    }

    /** Returns whether the fault overlaps a span of time. */
    public boolean overlaps(long from, long to) {
        return start <= to && end >= from;
    }

    /** Returns a line for people, with times since an instant. */
    public String describe(long origin) {
        return String.format(
                Locale.ROOT,
                "fault %s of %s, from %.4f s to %.4f s",
                name,
                instance == ALL ? "all instances" : "instance " + instance,
                (start - origin) / 1e9,
                (end - origin) / 1e9);
    }
}
