// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static io.weir.ratelimit.interceptor.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.Calls;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.ManualTime;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A request waits for a store that does not answer once, whatever the number of its decisions. */
class OneWaitTest {
    private static final long DEADLINE_MICROS = 100_000;
    private static final Policy OPEN = policy("open", "ip");
    private static final Policy CLOSED = policy("closed", "ip", 1, FailureMode.CLOSED);
    private static final Policy PACED = new Policy(
            new PolicyLimits(
                    "paced",
                    List.of(Limit.of(Algorithm.LEAKY_BUCKET, 1, Duration.ofSeconds(1))
                            .withMaxWait(Duration.ofSeconds(5)))),
            KeyExpression.parse("ip", new KeyTerms(32, 64)),
            1,
            FailureMode.OPEN,
            1);
    private static final Calls CALL = Calls.from("203.0.113.7");

    private final ManualTime time = new ManualTime();
    private final ManualPause pause = new ManualPause(time);
    private final List<DecisionEvent> heard = new ArrayList<>();
    private final List<Reason> errors = new ArrayList<>();
    private final Outages outages = new Outages("redisson", () -> time.micros() * 1_000, List.of(new StoreListener() {
        @Override
        public void onError(BackendException failure) {
            errors.add(failure.reason());
        }
    }));

    /** A store that takes its whole deadline to fail. */
    private final class Silent extends FakeBackend {
        private boolean answersDecisions;
        private Runnable meanwhile = () -> {};

        @Override
        public Decision acquire(List<Charge> charges) {
            if (answersDecisions) {
                asked.add("answered");
                Runnable once = meanwhile;
                meanwhile = () -> {};
                once.run();
                return new Decision.Allowed(List.of(), new Receipt() {}, 1_000_000);
            }
            if (failure != null) {
                time.advanceMicros(DEADLINE_MICROS);
            }
            return super.acquire(charges);
        }

        @Override
        public void giveBack(Receipt receipt) {
            time.advanceMicros(DEADLINE_MICROS);
            super.giveBack(receipt);
        }
    }

    private final Silent store = new Silent();
    private final RateLimitEngine engine = new RateLimitEngine(
            store,
            Fixtures.NO_LOCAL,
            new IdentityEncoder(Optional.empty()),
            List.of(heard::add),
            outages,
            pause,
            Overrides.NONE,
            HeavyKeys.NONE);
    private final RequestRecord request = new RequestRecord(CALL);

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FOREIGN_STATE", "FULL"})
    void laterDecisionsOfARequestDoNotAskAStoreThatHasJustFailedIt(Reason reason) {
        store.failure = FakeBackend.down(reason);
        long start = time.micros();
        engine.decide(binding(1, OPEN), CALL, request);
        Decision later = engine.decide(binding(1, CLOSED), CALL, request);
        assertThat(later).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, reason.tag()));
        assertThat(time.micros() - start).isEqualTo(DEADLINE_MICROS);
        assertThat(store.asked).containsExactly("open i.203.0.113.7 1");
        assertThat(heard).hasSize(2).last().extracting(DecisionEvent::nanos).isEqualTo(0L);
        assertThat(outages.degradedDecisions()).isEqualTo(2);
        assertThat(errors).hasSize(reason == Reason.BREAKER_OPEN ? 0 : 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"FOREIGN_STATE", "FULL"})
    void aKeyThatCannotBeDecidedAboutSaysNothingOfTheOthers(Reason reason) {
        store.failure = FakeBackend.down(reason);
        engine.decide(binding(1, OPEN), CALL, request);
        store.failure = null;
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Allowed.class);
    }

    @Test
    void anotherRequestAsksAgain() {
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, OPEN), CALL, request);
        engine.decide(binding(1, OPEN), CALL, new RequestRecord(CALL));
        assertThat(store.asked).hasSize(2);
    }

    @Test
    void aRequestThatLastsAsksAgainAfterASecond() {
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, OPEN), CALL, request);
        store.failure = null;
        time.advanceMicros(999_999);
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Degraded.class);
        time.advanceMicros(1);
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Allowed.class);
    }

    /** Another call takes the last place to wait while this one asks; then its own slot cannot be given back. */
    private void crowd() {
        store.answersDecisions = true;
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        store.meanwhile = () -> engine.decideAsync(binding(1, PACED), Identity.address("203.0.113.7"), Runnable::run);
    }

    @Test
    void aCallThatCannotWaitAsksNoStoreThatFailedToTakeItsSlotBack() {
        crowd();
        assertThat(engine.decide(binding(1, PACED), CALL))
                .isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(store.asked).hasSize(3).startsWith("answered", "answered");
    }

    @Test
    void neitherDoesOneThatHoldsNoThread() {
        crowd();
        CompletableFuture<Decision> decision =
                engine.decideAsync(binding(1, PACED), Identity.address("203.0.113.7"), Runnable::run);
        assertThat(decision).isCompletedWithValue(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(store.asked).hasSize(3).startsWith("answered", "answered");
    }

    @Test
    void aWaitThatIsCalledOffDoesNotEither() {
        store.answersDecisions = true;
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        Thread.currentThread().interrupt();
        Decision decision = engine.decide(binding(1, PACED), CALL, request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(decision).isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(store.asked).hasSize(2).startsWith("answered");
    }
}
