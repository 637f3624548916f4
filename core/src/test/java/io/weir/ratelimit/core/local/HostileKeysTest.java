// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.core.local.Keys.ONE_A_SECOND;
import static io.weir.ratelimit.core.local.Keys.acquire;
import static io.weir.ratelimit.core.local.Keys.exhaust;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.tck.ManualTime;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class HostileKeysTest {
    private final ManualTime time = new ManualTime();

    /** Returns texts with equal hash codes: each bit of the number selects one of two texts with equal hash codes. */
    private static String colliding(int number, int bits) {
        StringBuilder text = new StringBuilder("p.");
        for (int bit = bits - 1; bit >= 0; bit--) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    /** Unordered keys would need about 10,000,000,000 comparisons here, and ordered keys need 2,000,000. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void keysWithEqualHashCodesStayFastAndExact() {
        int bits = 17;
        int count = 1 << bits;
        LocalBackend backend = new LocalBackend(count, time);
        assertThat(colliding(1, bits)).hasSameHashCodeAs(colliding(count - 1, bits));
        for (int i = 0; i < count; i++) {
            backend.acquire(List.of(new Charge(FIVE_AN_HOUR, colliding(i, bits), 1 + i % 5)));
        }
        assertThat(backend.size()).isEqualTo(count);
        for (int i = 0; i < count; i++) {
            long remaining = backend.peek(List.of(Keys.charge(FIVE_AN_HOUR, colliding(i, bits))))
                    .get(0)
                    .remaining();
            if (remaining != 4 - i % 5) {
                assertThat(remaining).as("key %d", i).isEqualTo(4 - i % 5);
            }
        }
    }

    @Test
    void theOrderOfKeysIsConsistentWithEquals() {
        List<StateKey> keys = List.of(
                StateKey.of("p.Aa", "api"),
                StateKey.of("p.Aa", "bpi"),
                StateKey.of("p.BB", "api"),
                StateKey.of("p.BB", "bpi"));
        assertThat(keys).isSorted();
        for (int i = 0; i < keys.size(); i++) {
            for (int j = 0; j < keys.size(); j++) {
                assertThat(Integer.signum(keys.get(i).compareTo(keys.get(j)))).isEqualTo(Integer.compare(i, j));
                assertThat(keys.get(i).equals(keys.get(j))).isEqualTo(i == j);
            }
        }
        assertThat(keys.get(0)).hasSameHashCodeAs(keys.get(2));
    }

    @Test
    void aStoredKeyAndAPolicyAreNotConcatenated() {
        LocalBackend backend = new LocalBackend(10, time);
        exhaust(backend, Keys.policy("b", 5, FIVE_AN_HOUR.limits().get(0).window()), "a");
        assertThat(acquire(
                                backend,
                                Keys.policy("", 5, FIVE_AN_HOUR.limits().get(0).window()),
                                "ab")
                        .allowed())
                .isTrue();
    }

    @Test
    void droppedKeysAreNotRetained() {
        LocalBackend backend = new LocalBackend(100, time);
        List<WeakReference<String>> dropped = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 100; i++) {
                String storedKey = "k." + round + "." + i;
                assertThat(acquire(backend, ONE_A_SECOND, storedKey).allowed()).isTrue();
                if (round < 9) {
                    dropped.add(new WeakReference<>(storedKey));
                }
            }
            time.advanceMicros(1_000_000);
        }
        assertThat(backend.size()).isEqualTo(100);
        assertCollected(dropped);
    }

    @Test
    void rejectedRefundedAndResetKeysAreNotRetained() {
        LocalBackend backend = new LocalBackend(100, time);
        List<WeakReference<String>> gone = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            String storedKey = "k." + i;
            Charge tooExpensive = new Charge(FIVE_AN_HOUR, storedKey, 6);
            assertThat(backend.acquire(List.of(tooExpensive)).allowed()).isFalse();
            exhaust(backend, FIVE_AN_HOUR, storedKey);
            if (i % 2 == 0) {
                backend.reset(List.of(FIVE_AN_HOUR), storedKey);
            } else {
                backend.refund(new Charge(FIVE_AN_HOUR, storedKey, 5))
                        .toCompletableFuture()
                        .join();
            }
            gone.add(new WeakReference<>(storedKey));
        }
        assertThat(backend.size()).isZero();
        assertCollected(gone);
    }

    private static void assertCollected(List<WeakReference<String>> references) {
        for (int attempt = 0; attempt < 50 && references.stream().anyMatch(r -> r.get() != null); attempt++) {
            System.gc();
        }
        // A dead local variable of the loop can still hold the last key.
        assertThat(references.stream().filter(r -> r.get() != null).count()).isLessThanOrEqualTo(1);
    }
}
