// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.runtime.WeirBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/** An instance on Redis whose own timer reads the runtime changes. Change n sets a limit of n + 1 permits. */
final class ChangedInstance implements AutoCloseable {
    /** The audit log of changes. Its level is set here, because the JDK forgets that of a logger without references. */
    private static final Logger AUDIT = Logger.getLogger("io.weir.ratelimit.changes");

    private static final Identity CALLER = Identity.principal("caller");
    private static final int POLICIES = 20;
    private static final String WINDOW = "/1m";

    static {
        AUDIT.setLevel(Level.WARNING);
    }

    private final Weir weir;
    private final Operations operations;
    private final RuntimeChanges changes;

    ChangedInstance(String address, String namespace) {
        WeirBuilder builder = Weir.builder()
                .property("ratelimit.redis.address", address)
                .property("ratelimit.redis.deadline", "10s")
                .property("ratelimit.namespace", namespace)
                .property("ratelimit.key-secret", "a secret of the measurement, not of instances")
                .property("ratelimit.changes.enabled", "true")
                .property("ratelimit.changes.role", "operator");
        for (int number = 0; number < POLICIES; number++) {
            builder.property("ratelimit.policies." + policyOf(number) + ".limit", "1" + WINDOW);
        }
        this.weir = builder.build();
        this.operations = weir.plugin(OperationsPlugin.class).operations();
        this.changes = operations.changes().orElseThrow();
        while (changes.view().read().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private static String policyOf(long change) {
        return "policy" + change % POLICIES;
    }

    /** Makes the change with a number. */
    void make(long number) {
        try {
            RuntimeChange made = changes.make(
                    new ChangeRequest(
                            new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, policyOf(number), Optional.empty()),
                            Map.of("limit", number + 1 + WINDOW),
                            Optional.empty(),
                            "measurement",
                            "operator"),
                    changes.view().tag());
            if (made.number() != number) {
                throw new IllegalStateException("change " + number + " has the number " + made.number());
            }
        } catch (InvalidChangeException | ChangeConflictException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the number of the last change that the instance has read, or 0. */
    long known() {
        List<RuntimeChange> active = changes.view().active();
        return active.isEmpty() ? 0 : active.get(0).number();
    }

    /** Tests whether the limit of a change is that of its policy. */
    boolean isInForce(long number) {
        return operations.policies().stream()
                .filter(policy -> policy.name().equals(policyOf(number)))
                .map(PolicyView::limits)
                .anyMatch(List.of(number + 1 + WINDOW)::equals);
    }

    /** Checks that decisions have the limit of a change. */
    void check(long number) {
        long permits = weir.limiter().peek(policyOf(number), CALLER).get(0).permits();
        if (permits != number + 1) {
            throw new IllegalStateException("change " + number + " is not in force: " + permits + " permits");
        }
    }

    @Override
    public void close() {
        weir.close();
    }
}
