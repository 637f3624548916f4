// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.observe.SampledLine;
import io.weir.ratelimit.interceptor.operate.Operations;
import java.lang.System.Logger.Level;
import java.security.Principal;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Tells the log of what was done on the page. What others can make happen at will is told once a minute. */
final class Audit {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final SampledLine entries = new SampledLine(QUIET_NANOS);
    private final SampledLine origins = new SampledLine(QUIET_NANOS);
    private final SampledLine failures = new SampledLine(QUIET_NANOS);

    Audit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Who reset whom. The user's name is personal, and what an audit is about. */
    void reset(@Nullable Principal user, Operations.Caller caller) {
        reset(user, caller, "");
    }

    /** Who would reset whom, when the store did not answer, which can have done it all the same. */
    void resetInDoubt(@Nullable Principal user, Operations.Caller caller, String reason) {
        reset(user, caller, ", or not: the store did not answer (" + reason + ")");
    }

    private static void reset(@Nullable Principal user, Operations.Caller caller, String doubt) {
        LOG.log(
                Level.INFO,
                "WEIR-502 {0} reset the key {1} of the policy {2}{3}",
                user == null ? "somebody who is not logged in" : "the user " + inLine(user.getName()),
                inLine(caller.key()),
                inLine(caller.policy()),
                doubt);
    }

    /** Somebody may not see the page. */
    void refusedEntry(String reason) {
        long count = entries.countToTell(nanoTime.getAsLong());
        if (count > 0) {
            LOG.log(
                    Level.INFO,
                    "WEIR-503 the operators'' page was refused to {0}; the last time because {1}",
                    times(count),
                    reason);
        }
    }

    /** A change that the page itself did not send. */
    void refusedOrigin() {
        long count = origins.countToTell(nanoTime.getAsLong());
        if (count > 0) {
            LOG.log(
                    Level.WARNING,
                    "WEIR-504 the operators'' page was sent {0} that did not come from itself, and refused",
                    times(count));
        }
    }

    /** A request failed as no request should. */
    void failed(RuntimeException failure) {
        if (failures.countToTell(nanoTime.getAsLong()) > 0) {
            LOG.log(Level.ERROR, "WEIR-505 a request of the operators' page failed", failure);
        }
    }

    private static String times(long count) {
        return count == 1 ? "a request" : count + " requests since it was said last";
    }

    /** Without what ends a line, or turns it around, wherever it is read. */
    private static String inLine(String text) {
        return text.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", " ");
    }
}
