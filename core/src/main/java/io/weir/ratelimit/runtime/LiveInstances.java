// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The number of live instances that share a backend. This task records the presence of its own instance, and the answer is the number. The
 * number is 1 before the first answer, and remains while the backend does not answer.
 *
 * <p>A greater answer applies at once. A smaller one applies after {@value #SMALLER_ANSWERS} smaller answers in a row: a backend that has
 * lost its data counts only the instances that have recorded their presence since then.
 */
public final class LiveInstances implements Plugin.Task, IntSupplier {
    /** The number of smaller answers in a row after which the number becomes the greatest of them. */
    static final int SMALLER_ANSWERS = 6;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final Duration INTERVAL = Duration.ofSeconds(5);
    private static final Duration INTERVAL_BEFORE_FIRST_ANSWER = Duration.ofSeconds(1);

    private final FleetStore.Presence store;
    private final String instance =
            String.format(Locale.ROOT, "%016x", ThreadLocalRandom.current().nextLong());

    private volatile Learned learned = Learned.NOTHING;

    /** The last record of the presence, which is done after its answer has changed the number. One thread runs the task at a time. */
    private CompletableFuture<?> last = CompletableFuture.completedFuture(1);

    private volatile boolean failing;

    /** The result of the answers so far, with the number and the greatest of the smaller answers in a row. */
    private record Learned(int number, int smaller, int greatest) {
        static final Learned NOTHING = new Learned(0, 0, 0);

        Learned and(int answer) {
            if (answer >= number) {
                return new Learned(answer, 0, 0);
            }
            Learned next = new Learned(number, smaller + 1, Math.max(greatest, answer));
            return next.smaller < SMALLER_ANSWERS ? next : new Learned(next.greatest, 0, 0);
        }
    }

    public LiveInstances(FleetStore.Presence store) {
        this.store = store;
    }

    /** Returns the number of live instances, 1 or more. */
    @Override
    public int getAsInt() {
        return Math.max(1, learned.number());
    }

    @Override
    public Duration interval() {
        return learned.equals(Learned.NOTHING) ? INTERVAL_BEFORE_FIRST_ANSWER : INTERVAL;
    }

    /** Records the presence of this instance without waiting, unless the last record has no answer yet. */
    @Override
    public void run() {
        if (last.isDone()) {
            last = store.present(instance).toCompletableFuture().whenComplete(this::ended);
        }
    }

    private void ended(@Nullable Integer answer, @Nullable Throwable failure) {
        if (answer != null) {
            Learned before = learned;
            Learned after = before.and(answer);
            learned = after;
            failing = false;
            if (after.number() != before.number()) {
                LOG.log(Level.DEBUG, "The number of instances is {0}.", after.number());
            }
            return;
        }
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        // The failures of an outage have their own messages.
        if (!failing && cause instanceof BackendException rejected && rejected.reason() == Reason.BACKEND_ERROR) {
            failing = true;
            MESSAGES.log("WEIR-010.presence", String.valueOf(rejected.getMessage()), getAsInt());
        }
    }
}
