// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The promises of acquires under two policies with different keys, each of which has two parts in a history. */
final class JointPromise {
    private JointPromise() {}

    /**
     * A call under two policies spends the permits of both keys, or those of none, and is rejected only if one of the limits has no room
     * (hierarchical-quotas.md). In several slots of a cluster, a part can be spent until its refund, or stay so after a failure
     * (redis-cluster.md, "Several slots").
     */
    static final class AllOrNothing implements Promise {
        @Override
        public String name() {
            return "all or nothing";
        }

        @Override
        public List<Violation> check(History history) {
            List<Violation> violations = new ArrayList<>(
                    AccountPromise.check(history, name(), policy -> policy.hasOwnKeys() && !policy.isShadow()));
            Parts parts = new Parts(history);
            parts.rejected().stream()
                    .filter(part ->
                            part.number() < part.call() && !parts.isShadow(part) && !parts.isShadow(parts.other(part)))
                    .flatMap(part -> parts
                            .room(part)
                            .filter(reason -> parts.room(parts.other(part)).isPresent())
                            .map(reason -> new Violation(
                                    name(), part, reason + ", and operation " + part.call() + " had room"))
                            .stream())
                    .findFirst()
                    .ifPresent(violations::add);
            return violations;
        }
    }

    /**
     * A policy in shadow mode rejects no call. It spends nothing if the other policy rejects the call, and if it has no room itself; otherwise
     * it spends the cost (algorithms.md, "Shadow mode").
     */
    static final class Shadow implements Promise {
        @Override
        public String name() {
            return "shadow mode";
        }

        @Override
        public List<Violation> check(History history) {
            List<Violation> violations = new ArrayList<>(AccountPromise.check(history, name(), Policy::isShadow));
            Parts parts = new Parts(history);
            parts.rejected().stream()
                    .filter(parts::isShadow)
                    .map(part -> parts.other(part).outcome() == Outcome.REJECTED ? parts.other(part) : part)
                    .flatMap(part -> parts.room(part).map(reason -> new Violation(name(), part, reason)).stream())
                    .findFirst()
                    .ifPresent(violations::add);
            return violations;
        }
    }

    /** The parts of acquires under two policies. */
    private static final class Parts {
        private final History history;
        private final Map<Long, Operation> byNumber = new HashMap<>();
        private final Map<String, Room> rooms = new HashMap<>();

        Parts(History history) {
            this.history = history;
            history.operations().stream().filter(Operation::isJoint).forEach(part -> byNumber.put(part.number(), part));
            history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                            && history.policy(operation).hasOwnKeys())
                    .forEach((subject, calls) -> rooms.put(subject, new Room(history, calls)));
        }

        /** Returns the rejected parts in the order of their starts. */
        List<Operation> rejected() {
            return history.operations().stream()
                    .filter(part -> part.isJoint() && part.outcome() == Outcome.REJECTED)
                    .toList();
        }

        Operation other(Operation part) {
            return byNumber.get(part.call());
        }

        boolean isShadow(Operation part) {
            return history.policy(part).isShadow();
        }

        Optional<String> room(Operation part) {
            return rooms.get(part.subject()).of(part);
        }
    }
}
