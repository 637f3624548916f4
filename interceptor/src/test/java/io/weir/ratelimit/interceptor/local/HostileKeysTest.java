// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import static io.weir.ratelimit.interceptor.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.interceptor.local.Keys.ONE_A_SECOND;
import static io.weir.ratelimit.interceptor.local.Keys.acquire;
import static io.weir.ratelimit.interceptor.local.Keys.exhaust;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.local.Shard.StateKey;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ManualTime;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class HostileKeysTest {
    private final ManualTime time = new ManualTime();

    /** Texts of one hash: each bit of the number chooses between two texts whose hashes are equal. */
    private static String colliding(int number, int bits) {
        StringBuilder text = new StringBuilder("p.");
        for (int bit = bits - 1; bit >= 0; bit--) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    /** Without an order among keys of one hash this takes some 10,000,000,000 comparisons, with one 2,000,000. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void keysOfOneHashStayFastAndExact() {
        int bits = 17;
        int count = 1 << bits;
        LocalBackend backend = new LocalBackend(count, time);
        assertThat(colliding(1, bits)).hasSameHashCodeAs(colliding(count - 1, bits));
        for (int i = 0; i < count; i++) {
            backend.acquire(List.of(new Charge(FIVE_AN_HOUR, colliding(i, bits), 1 + i % 5)));
        }
        assertThat(backend.size()).isEqualTo(count);
        for (int i = 0; i < count; i++) {
            long remaining = backend.peek(Keys.charge(FIVE_AN_HOUR, colliding(i, bits)))
                    .get(0)
                    .remaining();
            if (remaining != 4 - i % 5) {
                assertThat(remaining).as("key %d", i).isEqualTo(4 - i % 5);
            }
        }
    }

    @Test
    void keysHaveAnOrderThatAgreesWithTheirEquality() {
        List<StateKey> keys = List.of(
                new StateKey("p.Aa", "api:t1000"),
                new StateKey("p.Aa", "bpi:t1000"),
                new StateKey("p.BB", "api:t1000"),
                new StateKey("p.BB", "bpi:t1000"));
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
    void anIdentityAndAPolicyAreNotJoinedIntoOneKey() {
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
    void nothingOfDisplacedKeysIsRetained() {
        LocalBackend backend = new LocalBackend(100, time);
        List<WeakReference<String>> displaced = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 100; i++) {
                String identity = "k." + round + "." + i;
                assertThat(acquire(backend, ONE_A_SECOND, identity).allowed()).isTrue();
                if (round < 9) {
                    displaced.add(new WeakReference<>(identity));
                }
            }
            time.advanceMicros(1_000_000);
        }
        assertThat(backend.size()).isEqualTo(100);
        assertCollected(displaced);
    }

    @Test
    void nothingOfRefusedOrGivenBackOrResetKeysIsRetained() {
        LocalBackend backend = new LocalBackend(100, time);
        List<WeakReference<String>> gone = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            String identity = "k." + i;
            Charge tooDear = new Charge(FIVE_AN_HOUR, identity, 6);
            assertThat(backend.acquire(List.of(tooDear)).allowed()).isFalse();
            exhaust(backend, FIVE_AN_HOUR, identity);
            if (i % 2 == 0) {
                backend.reset(FIVE_AN_HOUR, identity);
            } else {
                backend.giveBack(new Charge(FIVE_AN_HOUR, identity, 5));
            }
            gone.add(new WeakReference<>(identity));
        }
        assertThat(backend.size()).isZero();
        assertCollected(gone);
    }

    private static void assertCollected(List<WeakReference<String>> references) {
        for (int attempt = 0; attempt < 50 && references.stream().anyMatch(r -> r.get() != null); attempt++) {
            System.gc();
        }
        // The last identity can still lie in a dead local variable of its loop.
        assertThat(references.stream().filter(r -> r.get() != null).count()).isLessThanOrEqualTo(1);
    }
}
