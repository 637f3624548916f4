// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.InstanceReport;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The reports of all instances at one moment, this one first, then by host and start.
 *
 * @param shared whether instances share a store; if not, the only member is this instance
 * @param unreadable the number of values in the store that are no reports of this form
 * @param problem why the store could not be read, so that the reports of other instances are old; empty if it was read
 */
record Fleet(Instant at, boolean shared, List<Member> members, int unreadable, Optional<String> problem) {
    /** The age after which an instance without a report counts as vanished: three reports are missing. */
    static final Duration VANISHED_AFTER = Duration.ofSeconds(15);

    Fleet {
        members = List.copyOf(members);
    }

    /** An instance with its last report, and the time since then. */
    record Member(String id, boolean self, Duration age, InstanceReport report) {
        /** Returns the host with the name of the instance on it, or with the begin of its id if the report has no name. */
        String name() {
            return report.origin().host() + "/" + report.origin().name();
        }

        boolean isLate() {
            return age.compareTo(VANISHED_AFTER) >= 0;
        }
    }

    /** Returns the members that report, as far as the store could be read. */
    List<Member> reporting() {
        return members.stream().filter(member -> !member.isLate()).toList();
    }

    /** Tests whether a member has stopped its reports. Without the store, it is unknown whether a member still reports. */
    boolean isVanished(Member member) {
        return problem.isEmpty() && member.isLate();
    }

    boolean isUnknown(Member member) {
        return problem.isPresent() && member.isLate();
    }
}
