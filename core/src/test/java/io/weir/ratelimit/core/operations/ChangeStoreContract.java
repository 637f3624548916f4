// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** The properties that each {@link ChangeStore} has. A failed check is an {@link AssertionError}. */
public final class ChangeStoreContract {
    private ChangeStoreContract() {}

    private static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static void check(String what, Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError(what + " is " + actual + " and not " + expected);
        }
    }

    private static List<String> log(ChangeStore store, int count) {
        return join(store.log(count)).stream()
                .map(entry -> new String(entry, UTF_8))
                .toList();
    }

    /** Checks that a store without a state has no tag and an empty log. */
    public static void isEmpty(ChangeStore store) {
        ChangeStore.Stored stored = join(store.read(ChangeStore.NO_TAG));
        check("the tag", stored.tag(), ChangeStore.NO_TAG);
        check("the state", stored.state().isPresent(), false);
        check("foreign", stored.foreign(), false);
        check("the log", log(store, 10), List.of());
    }

    /** Checks that an empty store keeps the last state, and returns it unless its tag is known. */
    public static void keepsTheLastState(ChangeStore store) {
        check("the first", join(store.replace("", bytes("1-5\nfirst"), bytes("e1"))), true);
        check("the second", join(store.replace("1-5", bytes("2-6\nsecond\n\0\u00ff"), bytes("e2"))), true);
        for (String known : List.of("", "1-5", "2-60", "12-6")) {
            ChangeStore.Stored stored = join(store.read(known));
            check("the tag", stored.tag(), "2-6");
            check("the state", new String(stored.state().orElseThrow(), UTF_8), "2-6\nsecond\n\0\u00ff");
        }
        ChangeStore.Stored known = join(store.read("2-6"));
        check("the known tag", known.tag(), "2-6");
        check("the known state", known.state().isPresent(), false);
        check("the log", log(store, 10), List.of("e2", "e1"));
        check("the last entry", log(store, 1), List.of("e2"));
    }

    /** Checks that a state with another tag than the expected one stays. */
    public static void rejectsAnotherTag(ChangeStore store) {
        check("no state", join(store.replace("1-5", bytes("2-6\nx"), bytes("e"))), false);
        check("the first", join(store.replace("", bytes("1-5\nfirst"), bytes("e1"))), true);
        for (String expected : List.of("", "1-6", "2-5", "11-5", "1-55")) {
            check("replaced " + expected, join(store.replace(expected, bytes("2-6\nx"), bytes("e"))), false);
        }
        check("the tag", join(store.read("")).tag(), "1-5");
        check("the log", log(store, 10), List.of("e1"));
    }

    /** Checks that the log ends after the greatest number of entries. */
    public static void boundsTheLog(ChangeStore store) {
        String tag = "";
        int last = ChangeStore.MAX_ENTRIES + 5;
        for (int i = 1; i <= last; i++) {
            check("change " + i, join(store.replace(tag, bytes(i + "-7\n"), bytes("e" + i))), true);
            tag = i + "-7";
        }
        List<String> expected = new ArrayList<>();
        for (int i = last; i > last - ChangeStore.MAX_ENTRIES; i--) {
            expected.add("e" + i);
        }
        check("the log", log(store, ChangeStore.MAX_ENTRIES), expected);
    }

    /** Checks that of several writers that expect the same tag exactly one succeeds, in each round. */
    public static void oneOfSeveralWritersSucceeds(List<ChangeStore> stores) throws InterruptedException {
        String tag = "";
        for (int round = 1; round <= 50; round++) {
            String expected = tag;
            byte[] next = bytes(round + "-8\n");
            AtomicInteger succeeded = new AtomicInteger();
            CountDownLatch ready = new CountDownLatch(stores.size());
            List<Thread> writers = new ArrayList<>();
            for (ChangeStore store : stores) {
                Thread writer = new Thread(() -> {
                    ready.countDown();
                    try {
                        ready.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    if (join(store.replace(expected, next, bytes("e")))) {
                        succeeded.incrementAndGet();
                    }
                });
                writer.start();
                writers.add(writer);
            }
            for (Thread writer : writers) {
                writer.join();
            }
            check("the successes of round " + round, succeeded.get(), 1);
            tag = round + "-8";
        }
    }
}
