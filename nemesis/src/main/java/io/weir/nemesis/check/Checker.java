// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import java.util.Comparator;
import java.util.List;

/** Decides whether a history is one that the documents allow. */
public final class Checker {
    /** All promises, in the order of the table of results. */
    public static final List<Promise> PROMISES = List.of(
            new LimitPromise(),
            new RoomPromise(),
            new QuotaPromise(),
            new AccountPromise(),
            new JointPromise.AllOrNothing(),
            new JointPromise.Shadow(),
            SlotsPromise.calls(),
            SlotsPromise.back(),
            new FailureModePromise(),
            new DeadlinePromise(),
            new RecoveryPromise(),
            new BlockPromise(),
            new ThresholdPromise(),
            new PenaltyPromise(),
            new ChangePromise(),
            new PausePromise(),
            new LifePromise());

    private Checker() {}

    /** Returns the violations, the first one first. */
    public static List<Violation> check(History history) {
        return PROMISES.stream()
                .flatMap(promise -> promise.check(history).stream())
                .sorted(Comparator.comparingLong(
                        violation -> violation.operation().end()))
                .toList();
    }
}
