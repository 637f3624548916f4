// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityEncoderTest {
    private static final String SAFE = "[A-Za-z0-9._@%+~-]+";

    /**
     * The greatest length of a stored key of clients: a kind, two names of 64 characters with three characters each, and two
     * values of at most 64 characters.
     */
    private static final int LONGEST_OF_TWO_PARTS = 2 * (2 + 3 * 64 + 1 + 64) + 1;

    private static final IdentityEncoder PLAIN = new IdentityEncoder(Optional.empty());
    private static final IdentityEncoder KEYED = new IdentityEncoder(Optional.of("0123456789abcdef"));

    private static String stored(Identity identity) {
        return PLAIN.encode(identity);
    }

    @Test
    void theStoredFormatIsPublic() {
        assertThat(stored(Identity.GLOBAL)).isEqualTo("all");
        assertThat(stored(Identity.ANONYMOUS)).isEqualTo("anon");
        assertThat(stored(Identity.principal("alice"))).isEqualTo("p.alice");
        assertThat(stored(Identity.principal("Alice.Smith-1_x@example.org")))
                .isEqualTo("p.Alice.Smith-1_x@example.org");
        assertThat(stored(Identity.address("203.0.113.7"))).isEqualTo("i.203.0.113.7");
        assertThat(stored(Identity.address("2001:db8::/64"))).isEqualTo("i.2001%3Adb8%3A%3A%2F64");
        assertThat(stored(Identity.header("X-Api-Key", "s3cret"))).isEqualTo("h.x-api-key.~iO9xuNGdm6BXYhsQ5r-QOw");
        assertThat(stored(Identity.argument("username", "bob"))).isEqualTo("a.username.bob");
        assertThat(stored(Identity.argument("user.name", "bob"))).isEqualTo("a.user%2Ename.bob");
        assertThat(stored(Identity.cookie("Session", "s3cret"))).isEqualTo("c.Session.~3QVqFTUdTuM2SFipaUZZxA");
        assertThat(stored(Identity.query("tenant", "a b"))).isEqualTo("q.tenant.a%20b");
        assertThat(stored(Identity.query("filter[id]", "7"))).isEqualTo("q.filter%5Bid%5D.7");
        assertThat(stored(Identity.path("org", "acme"))).isEqualTo("u.org.acme");
        assertThat(stored(Identity.claim("plan", "free"))).isEqualTo("t.plan.free");
        assertThat(stored(Identity.claim("https://example.org/plan", "free")))
                .isEqualTo("t.https%3A%2F%2Fexample%2Eorg%2Fplan.free");
        assertThat(stored(Identity.method("Search.find"))).isEqualTo("m.Search.find");
        assertThat(stored(Identity.of("tenant-7"))).isEqualTo("k.tenant-7");
        assertThat(stored(Identity.address("203.0.113.7").and(Identity.principal("alice"))))
                .isEqualTo("i.203.0.113.7+p.alice");
        assertThat(stored(Identity.GLOBAL.and(Identity.of("a+b")))).isEqualTo("all+k.a%2Bb");
        assertThat(stored(Identity.principal("é€😀"))).isEqualTo("p.%C3%A9%E2%82%AC%F0%9F%98%80");
        assertThat(stored(Identity.principal("a".repeat(64)))).isEqualTo("p." + "a".repeat(64));
        assertThat(stored(Identity.principal("a".repeat(65)))).isEqualTo("p.~wfrvW4xZkHuTFNfNJjgaJg");
        assertThat(stored(Identity.principal("é".repeat(11)))).isEqualTo("p.~mFVrRDLNJkPUTeGtzp_rXA");
    }

    @Test
    void theStoredFormatWithAKeySecretIsPublic() {
        assertThat(KEYED.encode(Identity.GLOBAL)).isEqualTo("all");
        assertThat(KEYED.encode(Identity.ANONYMOUS)).isEqualTo("anon");
        assertThat(KEYED.encode(Identity.principal("alice"))).isEqualTo("p.~nJXXHv2CRWrkYlasJTo7KA");
        assertThat(KEYED.encode(Identity.address("203.0.113.7"))).isEqualTo("i.~jBjPy5oytsg-VfW0-k9zBw");
        assertThat(KEYED.encode(Identity.header("x-api-key", "s3cret")))
                .isEqualTo("h.x-api-key.~hFT7li1gXfwd3S_dBdNHwA");
    }

    @Test
    void valuesInTheStoredFormatAreEncoded() {
        assertThat(List.of(
                        stored(Identity.principal("alice").and(Identity.address("1"))),
                        stored(Identity.principal("alice+i.1")),
                        stored(Identity.principal("alice%2Bi.1"))))
                .containsExactly("p.alice+i.1", "p.alice%2Bi.1", "p.alice%252Bi.1");
        assertThat(stored(Identity.principal("~wfrvW4xZkHuTFNfNJjgaJg"))).isEqualTo("p.%7EwfrvW4xZkHuTFNfNJjgaJg");
        assertThat(stored(Identity.argument("a.b", "c"))).isNotEqualTo(stored(Identity.argument("a", "b.c")));
        assertThat(stored(Identity.header("a", "b\0c"))).isNotEqualTo(stored(Identity.header("a\0b", "c")));
    }

    @Test
    void equalValuesOfDifferentKindsDiffer() {
        String text = "203.0.113.7";
        for (IdentityEncoder encoder : List.of(PLAIN, KEYED)) {
            assertThat(List.of(
                            encoder.encode(Identity.principal(text)),
                            encoder.encode(Identity.address(text)),
                            encoder.encode(Identity.of(text)),
                            encoder.encode(Identity.header("x", text)),
                            encoder.encode(Identity.header("y", text)),
                            encoder.encode(Identity.argument("x", text)),
                            encoder.encode(Identity.cookie("x", text)),
                            encoder.encode(Identity.query("x", text)),
                            encoder.encode(Identity.path("x", text)),
                            encoder.encode(Identity.claim("x", text)),
                            encoder.encode(Identity.method(text))))
                    .doesNotHaveDuplicates()
                    .extracting(IdentityEncoderTest::hashOrWhole)
                    .as("one value in two places cannot be recognized")
                    .filteredOn(hash -> hash.startsWith("~"))
                    .doesNotHaveDuplicates();
        }
        assertThat(stored(Identity.principal("all"))).isNotEqualTo(stored(Identity.GLOBAL));
        assertThat(stored(Identity.principal("anon"))).isNotEqualTo(stored(Identity.ANONYMOUS));
    }

    private static String hashOrWhole(String stored) {
        return stored.indexOf('~') < 0 ? stored : stored.substring(stored.indexOf('~'));
    }

    @ParameterizedTest
    @ValueSource(strings = {"s", "s3cret", "203.0.113.7", "all", "é"})
    void valuesOfHeadersAndCookiesAreAlwaysHashed(String value) {
        assertThat(stored(Identity.cookie("session", value))).matches("c\\.session\\.~[A-Za-z0-9_-]{22}");
        assertThat(stored(Identity.header("x-api-key", value))).matches("h\\.x-api-key\\.~[A-Za-z0-9_-]{22}");
        assertThat(stored(Identity.GLOBAL.and(Identity.header("x-api-key", value))))
                .matches("all\\+h\\.x-api-key\\.~[A-Za-z0-9_-]{22}");
    }

    @Test
    void allValuesAreHashedWithAKeySecretAndDifferWithAnother() {
        IdentityEncoder other = new IdentityEncoder(Optional.of("0123456789abcdeg"));
        for (Identity identity : List.of(
                Identity.principal("alice"),
                Identity.address("203.0.113.7"),
                Identity.of("k"),
                Identity.argument("x", "alice"),
                Identity.header("x", "alice"),
                Identity.cookie("x", "alice"),
                Identity.query("x", "alice"),
                Identity.path("x", "alice"),
                Identity.claim("x", "alice"),
                Identity.method("A.b"),
                Identity.principal("a".repeat(100)))) {
            assertThat(KEYED.encode(identity)).matches("[a-z](\\.x)?\\.~[A-Za-z0-9_-]{22}");
            assertThat(other.encode(identity)).isNotEqualTo(KEYED.encode(identity));
            assertThat(new IdentityEncoder(Optional.of("0123456789abcdef")).encode(identity))
                    .isEqualTo(KEYED.encode(identity));
            assertThat(stored(identity)).isNotEqualTo(KEYED.encode(identity));
        }
    }

    private static List<String> hostile() {
        return List.of(
                "{",
                "}",
                "{}",
                "{a}",
                "}{",
                ":",
                "a:b",
                "%",
                "%25",
                "%41",
                "A",
                "%2",
                "+",
                "a+b",
                "a+p.b",
                "~",
                "~~",
                "..",
                ".",
                "/",
                "\\",
                "\"",
                "'",
                "*",
                "?",
                "[a-z]",
                "\r",
                "\n",
                "\r\n",
                "a\r\nSET x y",
                "\0",
                "a\0",
                "\0a",
                " a",
                "a ",
                "a  b",
                "\u007f",
                "\u0080",
                "\u00e9",
                "e\u0301",
                "\u2028",
                "\ufeff",
                "\ufffd",
                "?",
                "??",
                "\ud800",
                "\udc00",
                "\udc00\ud800",
                "\ud800a",
                "\ud800\ud800",
                "\ud800\udc00",
                "\udbff\udfff",
                "\ud800?",
                "a\ud800",
                "\u0000\ud800",
                "null",
                "anon",
                "all",
                "p.a",
                "i.1",
                "\uff41",
                "\u0430",
                "a",
                "\u202ea",
                "x".repeat(64),
                "x".repeat(65),
                "x".repeat(66),
                "%".repeat(21),
                "%".repeat(22),
                "%25".repeat(21),
                "\ud83d\ude00".repeat(5),
                "\ud83d\ude00".repeat(6),
                "\ud800".repeat(100),
                "\udc00".repeat(100),
                "?".repeat(100),
                "x".repeat(1_000_000),
                "x".repeat(999_999) + "y",
                "\0".repeat(100_000));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void noTextInsertsASeparator(String value) {
        for (IdentityEncoder encoder : List.of(PLAIN, KEYED)) {
            for (Identity identity : each(value)) {
                String text = encoder.encode(identity);
                assertThat(text.matches(SAFE)).as(text).isTrue();
                assertThat(text.length()).as(text).isLessThanOrEqualTo(80);
                assertThat(text.chars().filter(c -> c == '+').count()).isZero();
            }
        }
    }

    @Test
    void noTwoHostileTextsHaveTheSameStoredKey() {
        for (IdentityEncoder encoder : List.of(PLAIN, KEYED)) {
            Map<String, Identity> known = new HashMap<>();
            for (String value : new HashSet<>(hostile())) {
                each(value).forEach(identity -> assertNew(known, encoder, identity, 0));
            }
        }
    }

    private static List<Identity> each(String value) {
        return value.isBlank()
                ? List.of()
                : List.of(
                        Identity.principal(value),
                        Identity.address(value),
                        Identity.of(value),
                        Identity.header("x", value),
                        Identity.argument("x", value),
                        Identity.cookie("x", value),
                        Identity.query("x", value),
                        Identity.path("x", value),
                        Identity.claim("x", value),
                        Identity.method(value));
    }

    /** Short texts of few characters have many pairs with small differences. */
    @Test
    @Tag("field")
    void noTwoKeysHaveTheSameStoredKey() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String[] alphabet = {
            "a", "A", "b", ".", "%", "2", "B", "5", "+", "~", "p", "i", "{", "}", ":", "\0", "\r\n", "\ud83d", "\ude00",
            "\u00e9", "?", "-"
        };
        for (IdentityEncoder encoder : List.of(PLAIN, KEYED)) {
            Map<String, Identity> known = new HashMap<>();
            Set<Identity> seen = new HashSet<>();
            for (int i = 0; i < 30_000; i++) {
                Identity identity = part(random, alphabet);
                if (random.nextInt(3) == 0) {
                    identity = identity.and(part(random, alphabet));
                }
                if (seen.add(identity)) {
                    assertNew(known, encoder, identity, seed);
                }
            }
            assertThat(known).hasSizeGreaterThan(10_000);
        }
    }

    private static void assertNew(Map<String, Identity> known, IdentityEncoder encoder, Identity identity, long seed) {
        String text = encoder.encode(identity);
        Identity other = known.put(text, identity);
        if (other != null || !text.matches(SAFE) || text.length() > LONGEST_OF_TWO_PARTS) {
            throw new AssertionError(text + " of " + identity.parts() + " and " + other + ", seed " + seed);
        }
    }

    private static Identity part(Random random, String[] alphabet) {
        String name = text(random, alphabet, 2);
        String value = text(random, alphabet, random.nextInt(20) == 0 ? 60 : 4);
        return switch (random.nextInt(12)) {
            case 0 -> Identity.principal(value);
            case 1 -> Identity.address(value);
            case 2 -> Identity.of(value);
            case 3 -> Identity.header(name, value);
            case 4 -> Identity.argument(name, value);
            case 5 -> Identity.cookie(name, value);
            case 6 -> Identity.query(name, value);
            case 7 -> Identity.path(name, value);
            case 8 -> Identity.claim(name, value);
            case 9 -> Identity.method(value);
            case 10 -> Identity.GLOBAL;
            default -> Identity.ANONYMOUS;
        };
    }

    /** Returns a text that is not blank, because a blank text is not a key. */
    private static String text(Random random, String[] alphabet, int most) {
        StringBuilder text = new StringBuilder(random.nextBoolean() ? "a" : ".");
        for (int left = random.nextInt(most + 1); left > 0; left--) {
            text.append(alphabet[random.nextInt(alphabet.length)]);
        }
        return text.toString();
    }

    @Test
    void manyThreadsGetTheSameHashes() throws Exception {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            expected.add(KEYED.encode(Identity.principal("user" + i)));
        }
        ExecutorService pool = Executors.newFixedThreadPool(16);
        try {
            CountDownLatch ready = new CountDownLatch(16);
            Callable<Integer> task = () -> {
                ready.countDown();
                ready.await();
                int wrong = 0;
                for (int i = 0; i < 5_000; i++) {
                    String text = KEYED.encode(Identity.principal("user" + i % 100));
                    wrong += text.equals(expected.get(i % 100)) ? 0 : 1;
                }
                return wrong;
            };
            List<Future<Integer>> all = new ArrayList<>();
            for (int thread = 0; thread < 16; thread++) {
                all.add(pool.submit(task));
            }
            for (Future<Integer> each : all) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isZero();
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
