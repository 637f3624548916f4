// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The audit log of runtime changes. Keys are masked. */
public final class ChangeAudit {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.changes");

    private final KeyMasker masker;

    /** Creates a log. */
    public ChangeAudit(KeyMasker masker) {
        this.masker = masker;
    }

    /** Returns a name of an author of limited length and without characters that cannot be printed. A container allows any name. */
    static String author(String name) {
        String printable = name.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "\ufffd");
        if (printable.length() <= ChangeBody.MAX_TEXT) {
            return printable;
        }
        int end = ChangeBody.MAX_TEXT - 1;
        return printable.substring(0, Character.isHighSurrogate(printable.charAt(end - 1)) ? end - 1 : end) + "…";
    }

    /** Logs a change of this instance. */
    void made(RuntimeChange change) {
        if (change.isUndo()) {
            MESSAGES.log(
                    LOG,
                    "WEIR-450.undone",
                    change.number(),
                    change.author(),
                    change.undoes().orElse(0),
                    subject(change),
                    change.before(),
                    change.reason());
            return;
        }
        MESSAGES.log(
                LOG,
                "WEIR-450",
                change.number(),
                change.author(),
                subject(change),
                change.before(),
                change.values(),
                change.until().map(Object::toString).orElse("none"),
                change.reason());
    }

    private String subject(RuntimeChange change) {
        String policy = "policy " + change.subject().policy();
        return switch (change.subject().kind()) {
            case POLICY -> policy;
            case OVERRIDE -> "override of key " + masked(change) + " of " + policy;
            case BLOCK -> "block of key " + masked(change) + " of " + policy;
        };
    }

    private String masked(RuntimeChange change) {
        return masker.of(change.subject().storedKey().orElse(""));
    }

    /** Logs changes that others have made or undone, or that have ended. */
    void applied(Collection<Long> added, Collection<Long> removed) {
        MESSAGES.log(LOG, "WEIR-451", added, removed);
    }

    /** Logs that the value in the store is ignored. */
    void ignored(String reason) {
        MESSAGES.log(LOG, "WEIR-452", reason);
    }

    /** Logs that the value in the store is in force again. */
    void readable() {
        MESSAGES.log(LOG, "WEIR-452.readable");
    }

    /** Logs changes of policies that this instance does not have. */
    void withoutPolicy(Collection<Long> numbers) {
        MESSAGES.log(LOG, "WEIR-452.policy", numbers);
    }

    /** Logs changes that this instance cannot apply. */
    void notInForce(Map<Long, List<ConfigurationProblem>> problems) {
        Problems all = new Problems();
        problems.values().forEach(all::addAll);
        MESSAGES.message("WEIR-452.not-in-force", problems.keySet())
                .withLines(all.lines())
                .log(LOG);
    }

    /** Logs that the clock of the store has stepped. */
    void stepped() {
        MESSAGES.log(LOG, "WEIR-457");
    }

    /** Logs that the clock of the store decides again. */
    void agrees() {
        MESSAGES.log(LOG, "WEIR-457.agrees");
    }

    /** Logs that the changes were not read at the start. */
    void unread(String reason) {
        MESSAGES.log(LOG, "WEIR-452.unread", reason);
    }

    /** Logs that a key is not blocked although the change is recorded. */
    void notBlocked(RuntimeChange change, String reason) {
        MESSAGES.log(LOG, "WEIR-453", change.number(), subject(change), reason);
    }
}
