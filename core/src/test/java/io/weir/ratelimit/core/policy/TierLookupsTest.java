// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TierLookupsTest {
    private static final Duration FRESH = Duration.ofSeconds(5);

    private static final PolicyLimits LIMITS =
            ReadPolicies.of("ratelimit.policies.api.limit=100/1m").policy("api").limits();

    private final AtomicLong nanos = new AtomicLong(-17);
    private final Map<String, String> table = new HashMap<>(Map.of("ann", "gold"));
    private final List<Identity> asked = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final Deque<Runnable> queue = new ArrayDeque<>();
    private Executor executor = Runnable::run;
    private RuntimeException failure;
    private final TierLookups tiers = lookups(Duration.ofMinutes(1), this::look);
    private LogCapture log;

    private Optional<String> look(Identity caller) {
        asked.add(caller);
        if (failure != null) {
            throw failure;
        }
        return Optional.ofNullable(table.get(caller.parts().get(0).value()));
    }

    private TierLookups lookups(Duration deadline, TierResolver resolver) {
        return new TierLookups(
                "plans",
                resolver,
                new LookupTimes(FRESH, deadline, nanos::get),
                () -> executor,
                (kind, name, failed) -> failures.add(kind + " " + name + " " + failed));
    }

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private Optional<String> tier(String user) {
        return tiers.tier(TestCall.byPrincipal(user));
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void theCallerIsTheUserAndItsTierIsCached() {
        assertThat(tier("ann")).contains("gold");
        assertThat(tier("ben")).isEmpty();
        pass(FRESH.minusNanos(1));
        assertThat(tier("ann")).contains("gold");
        assertThat(tier("ben")).isEmpty();
        assertThat(asked).containsExactly(Identity.principal("ann"), Identity.principal("ben"));
    }

    @Test
    void aCallWithoutACallerHasNoTierAndNoLookUp() {
        assertThat(tiers.tier(CallContext.NONE)).isEmpty();
        assertThat(tier(" ")).isEmpty();
        assertThat(asked).isEmpty();
    }

    @Test
    void aResolverReadsTheCallOnItsThread() {
        executor = queue::add;
        List<Thread> threads = new ArrayList<>();
        TierLookups byHeader = lookups(Duration.ZERO, new TierResolver() {
            @Override
            public Optional<Identity> caller(CallContext call) {
                threads.add(Thread.currentThread());
                return call.header("x-plan").map(plan -> Identity.header("x-plan", plan));
            }

            @Override
            public Optional<String> tier(Identity caller) {
                return Optional.of(caller.parts().get(0).value());
            }
        });
        assertThat(byHeader.tier(TestCall.ofHeader("x-plan", "gold"))).isEmpty();
        assertThat(threads).containsExactly(Thread.currentThread());
        queue.remove().run();
        assertThat(byHeader.tier(TestCall.ofHeader("x-plan", "gold"))).contains("gold");
        assertThat(queue).isEmpty();
    }

    @Test
    void aStaleTierAppliesDuringOneLookUp() {
        tier("ann");
        table.put("ann", "iron");
        executor = queue::add;
        pass(FRESH);
        assertThat(tier("ann")).contains("gold");
        assertThat(tier("ann")).contains("gold");
        assertThat(queue).as("look-ups that run").hasSize(1);
        queue.remove().run();
        assertThat(tier("ann")).contains("iron");
    }

    @Test
    void aFailureKeepsTheLastTierAndIsCachedAndLoggedOncePerOutage() {
        tier("ann");
        failure = new IllegalStateException("the database is away");
        for (int outage = 0; outage < 3; outage++) {
            pass(FRESH);
            assertThat(tier("ann")).contains("gold");
            assertThat(tier("ann")).contains("gold");
        }
        assertThat(tier("new")).isEmpty();
        assertThat(tier("new")).isEmpty();
        assertThat(asked).hasSize(5);
        assertThat(failures).hasSize(4).containsOnly("TIER plans ERROR");
        assertThat(log.lines())
                .containsExactly(
                        "WARNING WEIR-310 TierResolver plans did not return the tier of a caller (it failed). The last"
                                + " known tier applies, otherwise the limits of the policy. This is logged once for each outage.");
        failure = null;
        pass(Duration.ofMinutes(1));
        tier("ann");
        failure = new IllegalStateException("away again");
        pass(FRESH);
        tier("ann");
        assertThat(log.lines()).hasSize(2);
    }

    @Test
    void nullIsAFailure() {
        @SuppressWarnings("NullAway") // an application can return null
        TierLookups broken = lookups(Duration.ZERO, caller -> null);
        assertThat(broken.tier(TestCall.byPrincipal("ann"))).isEmpty();
        assertThat(failures).containsExactly("TIER plans ERROR");
    }

    @Test
    void anErrorIsAFailure() {
        TierLookups recursive = lookups(Duration.ZERO, caller -> {
            throw new StackOverflowError();
        });
        assertThat(recursive.tier(TestCall.byPrincipal("ann"))).isEmpty();
        assertThat(failures).containsExactly("TIER plans ERROR");
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-310");
    }

    @Test
    void callsWaitOnceForAHangingResolverAndItIsLogged() {
        executor = queue::add;
        TierLookups impatient = lookups(Duration.ofMillis(20), this::look);
        CallContext ann = TestCall.byPrincipal("ann");
        assertThat(impatient.tier(ann)).isEmpty();
        assertThat(failures).containsExactly("TIER plans TIMEOUT");
        pass(Duration.ofMillis(20));
        assertThat(impatient.tier(ann)).isEmpty();
        assertThat(failures).as("the deadline of the look-up has passed").hasSize(1);
        assertThat(log.lines()).singleElement().asString().contains("WEIR-310", "(no answer within 20 ms)");
        queue.remove().run();
        assertThat(impatient.tier(ann)).as("the look-up continued").contains("gold");
    }

    @Test
    void atMostEightLookUpsRunAndOtherCallsDoNotWait() {
        executor = queue::add;
        TierLookups patient = lookups(Duration.ofNanos(1), this::look);
        for (int i = 0; i < 1_000; i++) {
            assertThat(patient.tier(TestCall.byPrincipal("p" + i))).isEmpty();
        }
        assertThat(queue).hasSize(TierLookups.MAX_LOOKUPS);
        assertThat(failures).filteredOn("TIER plans BUSY"::equals).hasSize(1_000 - TierLookups.MAX_LOOKUPS);
        assertThat(log.lines()).hasSize(1);
        queue.forEach(Runnable::run);
        queue.clear();
        patient.tier(TestCall.byPrincipal("ann"));
        queue.remove().run();
        assertThat(patient.tier(TestCall.byPrincipal("ann"))).contains("gold");
    }

    @Test
    void manyCallersTakeBoundedMemory() {
        for (int i = 0; i < 3 * TierLookups.MAX_CALLERS; i++) {
            tier("p" + i);
        }
        assertThat(tiers.size()).isLessThanOrEqualTo(TierLookups.MAX_CALLERS);
    }

    @Test
    void anExceptionOfTheFirstStepReachesThePolicy() {
        TierLookups broken = lookups(Duration.ZERO, new TierResolver() {
            @Override
            public Optional<Identity> caller(CallContext call) {
                throw new IllegalStateException("no caller");
            }

            @Override
            public Optional<String> tier(Identity caller) {
                return Optional.empty();
            }
        });
        Tiers ofPolicy = new Tiers("plans", broken, Map.of("gold", LIMITS));
        for (int i = 0; i < 2 * ThreadBound.MAX_THREADS; i++) {
            assertThat(ofPolicy.of(CallContext.NONE, LIMITS)).isSameAs(LIMITS);
        }
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-310 Tier plans failed to resolve.");
    }
}
