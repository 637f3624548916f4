// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.rest.Quotas.NOW_MICROS;
import static io.weir.ratelimit.interceptor.rest.Quotas.NOW_SECONDS;
import static io.weir.ratelimit.interceptor.rest.Quotas.allowed;
import static io.weir.ratelimit.interceptor.rest.Quotas.fields;
import static io.weir.ratelimit.interceptor.rest.Quotas.rejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeaderDialectTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Quota API = allowed("api", 100, MINUTE, 42, 16_000_001, 16_500_000);

    /** A list of strings with integer parameters (RFC 9651, 3.1, 3.1.2, 3.3.1 and 3.3.3). */
    private static final Pattern LIST_OF_STRINGS =
            Pattern.compile("\"[\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E]*\"(;[a-z*][a-z0-9_.*-]*=-?[0-9]{1,15})*"
                    + "(, \"[\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E]*\"(;[a-z*][a-z0-9_.*-]*=-?[0-9]{1,15})*)*");

    private static QuotaView view(Quota... quotas) {
        return QuotaView.allowed(List.of(quotas), NOW_MICROS);
    }

    @Test
    void writesTheQuotaOfAnAllowedCall() {
        assertThat(fields("draft-11", view(API)))
                .containsExactly("RateLimit-Policy: \"api\";q=100;w=60", "RateLimit: \"api\";r=42;t=17");
        assertThat(fields("draft-06", view(API)))
                .containsExactly("RateLimit-Limit: 100", "RateLimit-Remaining: 42", "RateLimit-Reset: 17");
        assertThat(fields("legacy", view(API)))
                .containsExactly(
                        "X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 42", "X-RateLimit-Reset: 1714592400");
    }

    @Test
    void namesTheUnitOfAConcurrencyLimit() {
        Quota running = allowed("slow-concurrent", 2, Duration.ZERO, 1, 60_000_000, 1_000_000);
        assertThat(fields("draft-11", view(API, running)))
                .containsExactly(
                        "RateLimit-Policy: \"api\";q=100;w=60, \"slow-concurrent\";q=2;qu=\"concurrent-requests\"",
                        "RateLimit: \"api\";r=42;t=17");
        assertThat(fields("draft-11", view(running)))
                .as("nobody knows when a call ends")
                .containsExactly(
                        "RateLimit-Policy: \"slow-concurrent\";q=2;qu=\"concurrent-requests\"",
                        "RateLimit: \"slow-concurrent\";r=1");
        Quota full = rejected("slow-concurrent", 2, Duration.ZERO, 300_000, 60_000_000);
        assertThat(fields("draft-11", QuotaView.rejected(new Decision.Rejected(Results.of(full)), NOW_MICROS)))
                .last()
                .isEqualTo("RateLimit: \"slow-concurrent\";r=0;t=1");
    }

    /** The timeout of the slots of dead instances is no wait. */
    @Tag("field")
    @Test
    void aConcurrencyLimitHasNoResetOfASlot() {
        Quota running = allowed("slow-concurrent", 2, Duration.ZERO, 1, 60_000_000, 60_000_000);
        assertThat(fields("legacy", view(running))).containsExactly("X-RateLimit-Limit: 2", "X-RateLimit-Remaining: 1");
        assertThat(fields("draft-06", view(running))).containsExactly("RateLimit-Limit: 2", "RateLimit-Remaining: 1");
        Quota full = rejected("slow-concurrent", 2, Duration.ZERO, 300_000, 60_000_000);
        QuotaView rejection = QuotaView.rejected(new Decision.Rejected(Results.of(full)), NOW_MICROS);
        assertThat(fields("legacy", rejection)).contains("X-RateLimit-Reset: " + (NOW_SECONDS + 1));
        assertThat(fields("draft-06", rejection)).contains("RateLimit-Reset: 1");
        Quota none = TestQuota.of("slow", "slow", 0, 0, Duration.ZERO, 0, true, Micros.NEVER, 0, 0);
        assertThat(fields("legacy", QuotaView.rejected(new Decision.Rejected(Results.of(none)), NOW_MICROS)))
                .as("no wait helps")
                .containsExactly("X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0");
    }

    @Test
    void namesTheLimitClosestToExhaustion() {
        QuotaView view = view(
                allowed("api-1s", 10, Duration.ofSeconds(1), 5, 100_000, 500_000),
                allowed("api-1h", 1000, Duration.ofHours(1), 400, 3_600_000, 2_160_000_000L),
                allowed("org", 10, MINUTE, 9, 6_000_000, 6_000_000));
        assertThat(fields("draft-11", view))
                .containsExactly(
                        "RateLimit-Policy: \"api-1s\";q=10;w=1, \"api-1h\";q=1000;w=3600, \"org\";q=10;w=60",
                        "RateLimit: \"api-1h\";r=400;t=4");
        assertThat(fields("draft-06", view))
                .containsExactly("RateLimit-Limit: 1000", "RateLimit-Remaining: 400", "RateLimit-Reset: 2160");
    }

    @ParameterizedTest
    @CsvSource({
        "10, 5, 100, 50, a",
        "100, 50, 10, 5, a",
        "10, 5, 100, 49, b",
        "10, 0, 100, 0, a",
        "0, 0, 100, 100, a",
        "100, 100, 0, 0, b",
        "281474976710654, 281474976710653, 281474976710654, 281474976710652, b",
    })
    void theLimitWithTheLeastRemainingPartIsClosestToExhaustion(
            long permitsA, long remainingA, long permitsB, long remainingB, String closest) {
        QuotaView view = view(
                allowed("a", permitsA, MINUTE, remainingA, 0, 0), allowed("b", permitsB, MINUTE, remainingB, 0, 0));
        assertThat(view.decisive().name()).isEqualTo(closest);
    }

    @Test
    void writesTheWaitOfARejectedCall() {
        Quota rejected = rejected("api-1s", 10, Duration.ofSeconds(1), 100_000, 1_900_000);
        Quota other = allowed("api-1h", 1000, Duration.ofHours(1), 400, 3_600_000, 2_160_000_000L);
        QuotaView view = new QuotaView(List.of(rejected, other), rejected, NOW_MICROS);
        assertThat(fields("draft-11", view))
                .containsExactly(
                        "RateLimit-Policy: \"api-1s\";q=10;w=1, \"api-1h\";q=1000;w=3600",
                        "RateLimit: \"api-1s\";r=0;t=1");
        assertThat(fields("draft-06", view))
                .containsExactly("RateLimit-Limit: 10", "RateLimit-Remaining: 0", "RateLimit-Reset: 2");
        assertThat(fields("legacy", view))
                .containsExactly("X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1714592385");
    }

    @Test
    void writesNoWaitIfNoWaitHelps() {
        Quota never = TestQuota.of("api", "api", 10, 10, MINUTE, 10, true, Micros.NEVER, 0, 0);
        assertThat(fields("draft-11", new QuotaView(List.of(never), never, NOW_MICROS)))
                .containsExactly("RateLimit-Policy: \"api\";q=10;w=60", "RateLimit: \"api\";r=10");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "999999, 1",
        "1000000, 1",
        "1000001, 2",
        "59999999, 60",
        "60000000, 60",
        "9223372036854775807, 9223372036855"
    })
    void secondsAreRoundedUp(long micros, long seconds) {
        assertThat(QuotaView.ceilSeconds(micros)).isEqualTo(seconds);
        assertThat(QuotaView.waitSeconds(micros)).isEqualTo(Math.max(1, seconds));
        QuotaView view = view(allowed("api", 10, MINUTE, 5, micros, micros));
        assertThat(fields("draft-11", view)).contains("RateLimit: \"api\";r=5;t=" + seconds);
        assertThat(fields("draft-06", view)).contains("RateLimit-Reset: " + seconds);
        assertThat(fields("legacy", view)).contains("X-RateLimit-Reset: " + (NOW_SECONDS + seconds));
    }

    /** The backend reports the time until an end in microseconds. The response is written some time after the decision. */
    @Test
    void theSameEndIsAlwaysTheSameSecondAndNeverAnEarlierOne() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("reset: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        Instant start = Instant.ofEpochSecond(NOW_SECONDS);
        for (int i = 0; i < 10_000; i++) {
            long endMicros = random.nextInt(100_000_000);
            long second = NOW_SECONDS + QuotaView.ceilSeconds(endMicros);
            for (int call = 0; call < 5; call++) {
                long decidedMicros = random.nextLong(endMicros + 1);
                long elapsedMicros = random.nextInt(3_000_000);
                Instant written = start.plusNanos(1_000 * (decidedMicros + elapsedMicros));
                QuotaView view = QuotaView.allowed(
                        List.of(allowed("api", 10, MINUTE, 5, 0, endMicros - decidedMicros)),
                        QuotaView.epochMicros(1_000 * elapsedMicros, written));
                assertThat(fields("legacy", view)).as("seed %d", seed).contains("X-RateLimit-Reset: " + second);
                assertThat(decidedMicros + elapsedMicros + 1_000_000 * waitIn("draft-06", "RateLimit-Reset: ", view))
                        .as("seed %d", seed)
                        .isGreaterThanOrEqualTo(endMicros);
            }
        }
    }

    private static long waitIn(String dialect, String prefix, QuotaView view) {
        return fields(dialect, view).stream()
                .filter(field -> field.startsWith(prefix))
                .mapToLong(field -> Long.parseLong(field.substring(prefix.length())))
                .sum();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0",
        "1, 0, 1",
        "1000, 0, 1",
        "1001, 0, 2",
        "1001, 999, 2",
        "1001, 1000, 1",
        "999999999, 0, 1000000",
        "0, 1500000000, -1500000"
    })
    void theInstantOfADecisionIsRoundedUp(long nanosNow, long elapsedNanos, long micros) {
        assertThat(QuotaView.epochMicros(elapsedNanos, Instant.ofEpochSecond(NOW_SECONDS, nanosNow)))
                .isEqualTo(NOW_MICROS + micros);
    }

    @ParameterizedTest
    @CsvSource({"1, ''", "999, ''", "1000, ;w=1", "1001, ;w=2", "1500, ;w=2", "31622400000, ;w=31622400"})
    void omitsAWindowUnderOneSecondAndRoundsOthersUp(long millis, String window) {
        QuotaView view = view(allowed("api", 10, Duration.ofMillis(millis), 5, 0, 0));
        assertThat(fields("draft-11", view)).contains("RateLimit-Policy: \"api\";q=10" + window);
    }

    @Test
    void anUntouchedKeyHasNoWait() {
        QuotaView view = view(allowed("api", 10, MINUTE, 10, 0, 0));
        assertThat(fields("draft-11", view)).contains("RateLimit: \"api\";r=10;t=0");
        assertThat(fields("legacy", view)).contains("X-RateLimit-Reset: " + NOW_SECONDS);
    }

    @Test
    void writesAValidStructuredFieldForAnyQuota() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String names = "ABCXYZabcxyz0189._$-";
        for (int i = 0; i < 5_000; i++) {
            List<Quota> quotas = new ArrayList<>();
            for (int left = random.nextInt(4); left >= 0; left--) {
                StringBuilder name = new StringBuilder();
                random.ints(1 + random.nextInt(128), 0, names.length()).forEach(c -> name.append(names.charAt(c)));
                long permits = random.nextLong() >>> (16 + random.nextInt(48));
                boolean rejected = random.nextBoolean();
                quotas.add(TestQuota.of(
                        name.toString(),
                        name.toString(),
                        permits,
                        permits,
                        Duration.ofMillis(1 + random.nextInt(1 << (1 + random.nextInt(30)))),
                        permits == 0 ? 0 : random.nextLong(permits + 1),
                        rejected,
                        rejected ? random.nextLong() >>> (1 + random.nextInt(60)) : 0,
                        random.nextLong() >>> (1 + random.nextInt(60)),
                        random.nextLong() >>> (1 + random.nextInt(60))));
            }
            Quota decisive = quotas.get(random.nextInt(quotas.size()));
            for (String field : fields("draft-11", new QuotaView(quotas, decisive, NOW_MICROS))) {
                String value = field.substring(field.indexOf(": ") + 2);
                assertThat(value).as("seed %d", seed).matches(LIST_OF_STRINGS);
            }
        }
    }

    @Test
    void eachNameOfTheConfigurationIsADialect() {
        assertThat(ConfigKeys.HEADERS.form().parse("ietf, draft-11, draft-06, legacy"))
                .containsExactlyInAnyOrderElementsOf(QuotaView.Dialect.ALL.keySet());
    }

    @Test
    void dialectsHaveTheConfiguredOrderAndDistinctFirstFields() {
        assertThat(QuotaView.Dialect.named(List.of("legacy", "draft-11", "draft-06")))
                .extracting(dialect -> dialect.names().get(0))
                .containsExactly("X-RateLimit-Limit", "RateLimit", "RateLimit-Limit");
        assertThat(QuotaView.Dialect.named(List.of())).isEmpty();
        for (String name : List.of("draft-11", "draft-06", "legacy")) {
            assertThat(fields(name, view(API)))
                    .extracting(field -> field.substring(0, field.indexOf(':')))
                    .containsExactlyInAnyOrderElementsOf(
                            QuotaView.Dialect.named(List.of(name)).get(0).names());
        }
    }
}
