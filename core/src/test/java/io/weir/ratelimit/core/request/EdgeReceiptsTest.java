// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.core.request.EdgeReceipt.Result;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The receipts of the edge: their content, signature, lifetime, and that a receipt is claimed once. */
class EdgeReceiptsTest {
    private static final Instant NOW = Instant.parse("2026-11-26T10:00:00Z");
    private static final String SECRET = "0123456789abcdef";
    private static final List<Limit> LIMITS = List.of(
            Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(1)),
            Limit.of(Algorithm.SLIDING_WINDOW, 20, Duration.ofMinutes(1)),
            Limit.of(Algorithm.TOKEN_BUCKET, 30, Duration.ofHours(1), 90),
            Limit.of(Algorithm.LEAKY_BUCKET, 40, Duration.ofHours(2)),
            Limit.of(Algorithm.SLIDING_LOG, 50, Duration.ofHours(3)),
            Limit.of(60, new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneId.of("Europe/Berlin"), 15)));

    private static final TimedDecision ALLOWED = new TimedDecision(List.of(), Decision.Allowed.UNLIMITED, 0, 0, null);

    private final List<Result> results = new ArrayList<>();
    private Instant now = NOW;
    private final EdgeReceipts receipts = receipts("shop", SECRET);

    private EdgeReceipts receipts(String namespace, String secret) {
        return new EdgeReceipts(namespace, secret, () -> now, results::add);
    }

    private static ChargeStates charged(String policy, long cost, List<Limit> limits) {
        long micros = 1_700_000_000_000_000L;
        List<LimitState> states = new ArrayList<>();
        for (Limit limit : limits) {
            states.add(LimitState.untouched(limit, micros).spend(limit, cost, micros));
        }
        return new ChargeStates(new Charge(new PolicyLimits(policy, "gold", limits), "p.ann", cost), states);
    }

    private String issued() {
        return receipts.issue(List.of(charged("api", 2, LIMITS), charged("day", 1, LIMITS.subList(0, 1))))
                .orElseThrow();
    }

    private static List<Long> numbers(LimitState state) {
        List<Long> numbers = new ArrayList<>();
        StoredStates.charged(state, (first, second, third) -> numbers.addAll(List.of(first, second, third)));
        return numbers;
    }

    @Test
    void aReceiptKeepsTheChargesForALaterSettlement() {
        EdgeReceipt read = receipts.read(List.of(issued()));
        assertThat(read.begin("none")).isEmpty();
        assertThat(read.begin("api")).hasSize(1);
        BackendReceipt receipt = read.end(ALLOWED).orElseThrow();
        List<ChargeStates> charges = receipt.claim();
        ChargeStates expected = charged("api", 2, LIMITS);
        assertThat(charges.get(0).charge()).isEqualTo(expected.charge());
        for (int i = 0; i < LIMITS.size(); i++) {
            assertThat(numbers(charges.get(0).states().get(i)))
                    .as("%s", LIMITS.get(i))
                    .isEqualTo(numbers(expected.states().get(i)));
        }
        assertThat(charges.get(1).charge().policy().policy()).isEqualTo("day");
        assertThat(results).containsExactly(Result.ACCEPTED);
    }

    @Test
    void aShadowChargeStaysOne() {
        ChargeStates enforced = charged("api", 2, LIMITS);
        ChargeStates shadow = new ChargeStates(enforced.charge().asShadow(), enforced.states());
        EdgeReceipt read = receipts.read(List.of(receipts.issue(List.of(shadow)).orElseThrow()));
        read.begin("api");
        assertThat(read.end(ALLOWED).orElseThrow().charges().get(0).shadow()).isTrue();
    }

    @Test
    void eachReceiptHasItsOwnClaimWhichOneCallBegins() {
        EdgeReceipt one = receipts.read(List.of(issued()));
        List<Charge> claim = one.begin(List.of(charged("api", 1, LIMITS).charge()));
        assertThat(one.begin("api")).isEmpty();
        assertThat(receipts.read(List.of(issued())).begin("api")).isNotEqualTo(claim);
        assertThat(claim.get(0).cost()).isEqualTo(1);
        assertThat(claim.get(0).policy().limits().get(0).permits()).isEqualTo(1);
    }

    @Test
    void aCallAndASettlementMakeTheSameClaim() {
        String issued = issued();
        assertThat(receipts.read(List.of(issued)).begin("day"))
                .isEqualTo(receipts.read(List.of(issued))
                        .begin(List.of(charged("api", 1, LIMITS).charge())));
    }

    @Test
    void aClaimIsPossibleAsLongAsAnEarlierOneIsKnown() {
        EdgeReceipt last = receipts.read(List.of(issued()));
        EdgeReceipt late = receipts.read(List.of(issued()));
        now = NOW.plus(EdgeReceipts.CLAIMABLE).minusMillis(1);
        Duration kept = last.begin("api").get(0).policy().limits().get(0).window();
        assertThat(kept).isGreaterThan(EdgeReceipts.CLAIMABLE);
        now = NOW.plus(EdgeReceipts.CLAIMABLE);
        assertThat(late.begin("api")).isEmpty();
        assertThat(results).containsExactly(Result.EXPIRED);
    }

    @Test
    void aReceiptPaysOnlyForItsPoliciesAndKeys() {
        EdgeReceipt read = receipts.read(List.of(issued()));
        PolicyLimits api = new PolicyLimits("api", LIMITS.subList(0, 1));
        assertThat(read.begin(List.of(new Charge(api, "p.bob", 1)))).isEmpty();
        assertThat(read.begin(List.of(new Charge(new PolicyLimits("other", LIMITS), "p.ann", 1))))
                .isEmpty();
        assertThat(read.begin(List.of(new Charge(api, "p.ann", 1)))).hasSize(1);
    }

    @Test
    void aRejectedOrUnknownClaimPaysNothing() {
        EdgeReceipt read = receipts.read(List.of(issued()));
        Quota spent = Quota.builder("+receipt", "+receipt")
                .window(1, Duration.ofMinutes(1))
                .remaining(0)
                .rejectedFor(Duration.ofMinutes(1))
                .build();
        Decision rejected = new Decision.Rejected(List.of(new ChargeResult("+receipt", false, List.of(spent))));
        assertThat(read.end(new TimedDecision(List.of(), rejected, 0, 0, null))).isEmpty();
        BackendException failure = new BackendException(BackendException.Reason.TIMEOUT, "no reply", null);
        assertThat(read.end(new TimedDecision(List.of(), Decision.Allowed.UNLIMITED, 0, 0, failure)))
                .isEmpty();
        assertThat(results).containsExactly(Result.REPLAYED, Result.UNKNOWN);
    }

    @Test
    void anyOtherTextIsForged() {
        String issued = issued();
        byte[] bytes = Base64.getUrlDecoder().decode(issued);
        int texts = 0;
        for (int i = 0; i < bytes.length; i++) {
            byte[] changed = bytes.clone();
            changed[i] ^= 1;
            assertThat(receipts.read(List.of(Base64.getUrlEncoder().encodeToString(changed))))
                    .as("byte %d", i)
                    .isNull();
            texts++;
        }
        for (String text : List.of("", "x", "ü", "====", issued.substring(0, 40), issued + "AAAA", "A".repeat(5_000))) {
            assertThat(receipts.read(List.of(text))).as(text).isNull();
            texts++;
        }
        assertThat(receipts("other", SECRET).read(List.of(issued))).isNull();
        assertThat(receipts("shop", SECRET + "x").read(List.of(issued))).isNull();
        assertThat(results).hasSize(texts + 2).containsOnly(Result.FORGED);
    }

    @Test
    void aReceiptEndsAfterItsLifetime() {
        String issued = issued();
        now = NOW.plus(EdgeReceipts.LIFETIME).minusMillis(1);
        assertThat(receipts.read(List.of(issued))).isNotNull();
        now = NOW.plus(EdgeReceipts.LIFETIME);
        assertThat(receipts.read(List.of(issued))).isNull();
        assertThat(results).containsExactly(Result.EXPIRED);
    }

    @Test
    void theFirstValidOfTwoFieldsApplies() {
        assertThat(receipts.read(List.of("forged", issued()))).isNotNull();
        assertThat(receipts.read(List.of("forged", "forged", issued()))).isNull();
        assertThat(receipts.read(List.of())).isNull();
        assertThat(results).hasSize(3);
    }

    @Test
    void chargesWithoutRoomInAFieldHaveNoReceipt() {
        assertThat(receipts.issue(Collections.nCopies(50, charged("api", 1, LIMITS))))
                .isEmpty();
        assertThat(receipts.issue(List.of())).isEmpty();
        Limit slots = Limit.concurrency(1, Duration.ofMinutes(1));
        assertThat(receipts.issue(List.of(new ChargeStates(
                        new Charge(new PolicyLimits("slots", List.of(slots)), "g", 1),
                        List.of(LimitState.untouched(slots, 0))))))
                .isEmpty();
    }
}
