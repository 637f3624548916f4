// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.outgoing.OutgoingCall.Attempt;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.tck.ManualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Outgoing calls on the local backend, with the time of the test. */
class OutgoingCallsTest {
    private static final Identity KEY = Identity.of("partner");

    private final LogCapture log = new LogCapture();
    private final ManualTime time = new ManualTime();
    private final List<String> events = new ArrayList<>();
    private final AtomicInteger attempts = new AtomicInteger();
    private boolean backendFails;
    private boolean blocksFail;

    /** The pauses that the backend has stored. */
    private final List<String> stored = new ArrayList<>();

    private Runnable meanwhile = () -> {};

    /** Run after the next operation of the backend with a name. */
    private final Map<String, Runnable> after = new HashMap<>();

    private RateLimiter limiter;
    private OutgoingCalls calls;

    @AfterEach
    void closeLog() {
        log.close();
    }

    /** Creates one instance with a client {@code partner} under the policy {@code calls}. */
    private void create(String... lines) {
        create(new LocalBackend(100, time), lines);
    }

    private void create(RateLimitBackend shared, String... lines) {
        List<String> all = new ArrayList<>(List.of(lines));
        if (all.stream().noneMatch(line -> line.startsWith("ratelimit.clients.partner.policy="))) {
            all.add("ratelimit.clients.partner.policy=calls");
        }
        ConfigProperties config = Lines.of(all.toArray(String[]::new));
        Problems problems = new Problems();
        Map<String, OutgoingClient> clients = ClientReader.read(config, Map.of(), Map.of(), problems);
        Map<String, Policy> policies = PolicyLoader.load(
                        config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
        assertThat(problems.lines()).isEmpty();
        RateLimitBackend backend = failing(RateLimitBackend.class, shared);
        RateLimitEngine engine = RateLimitEngine.on(new FallbackBackend(
                        backend,
                        new FailureModes(() -> 1, () -> new LocalBackend(100, time)),
                        new BackendHealth(backend, true, false, () -> 0, List.of()),
                        Duration.ofSeconds(10)))
                .listeners(List.of((DecisionListener) event ->
                        events.add(event.endpoint() + " " + (event.decision().allowed() ? "allowed" : "rejected"))))
                .clock(sleeper())
                .build();
        limiter = new EngineRateLimiter(engine, () -> policies, () -> Runnable::run, Optional::empty);
        calls = new OutgoingCalls(
                true,
                clients,
                () -> 1,
                () -> policies,
                engine,
                limiter,
                new OutgoingListener() {
                    @Override
                    public void paused(String client, Cause cause) {
                        events.add(client + " paused " + cause);
                    }

                    @Override
                    public void stored(String policy, String storedKey, Duration rest) {
                        stored.add(policy + " " + storedKey + " " + rest);
                    }

                    @Override
                    public void retried(String client, boolean allowed) {
                        events.add(client + " retried " + allowed);
                    }
                },
                () -> time.micros() * 1_000,
                InstantSource.fixed(Instant.parse("2026-01-15T10:00:00Z")));
    }

    /** Returns a backend that fails while the test says so. */
    private <T> T failing(Class<T> type, RateLimitBackend shared) {
        return type.cast(Proxy.newProxyInstance(
                RateLimitBackend.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                    boolean operation = List.of("acquire", "block", "peek").contains(method.getName());
                    if ((backendFails && operation)
                            || (blocksFail && method.getName().equals("block"))) {
                        throw new BackendException(BackendException.Reason.TIMEOUT, "the test fails it", null);
                    }
                    try {
                        Object result = method.invoke(shared, args);
                        Runnable next = after.remove(method.getName());
                        if (next != null) {
                            next.run();
                        }
                        return method.getName().equals("capability") && args[0] == BlocksKeys.class
                                ? Optional.of(failing(BlocksKeys.class, shared))
                                : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private Sleeper sleeper() {
        return new Sleeper() {
            @Override
            public long nanos() {
                return time.micros() * 1_000;
            }

            @Override
            public void sleep(CompletableFuture<Void> signal, long micros) {
                meanwhile.run();
                time.advanceMicros(micros);
            }

            @Override
            public CompletableFuture<Void> timer(long micros) {
                throw new AssertionError("no call waits without a thread");
            }
        };
    }

    private OutgoingCall call(Attempt attempt, Boolean retry, Decision decision) {
        return new OutgoingCall("partner", "api.example", Optional.empty(), CallContext.NONE, attempt, retry, decision);
    }

    /** Begins a call that is no retry. */
    private Permit begin() {
        return calls.begin(call(new Attempt(0, attempts.incrementAndGet(), 0), null, null));
    }

    private void answer(Permit permit, int status, String... namesAndLines) {
        Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 0; i < namesAndLines.length; i += 2) {
            fields.put(namesAndLines[i], List.of(namesAndLines[i + 1]));
        }
        calls.answered(permit, new UpstreamResponse(status, fields::get));
    }

    private RateLimitExceededException rejection() {
        return catchThrowableOfType(RateLimitExceededException.class, this::begin);
    }

    private Optional<Duration> pause() {
        RateLimitExceededException rejection = rejection();
        return rejection == null ? Optional.of(Duration.ZERO) : rejection.retryAfter();
    }

    private long remaining() {
        return limiter.peek("calls", KEY).get(0).remaining();
    }

    private void advance(Duration duration) {
        time.advanceMicros(duration.toNanos() / 1_000);
    }

    @Test
    void spendsPermitsBeforeACallIsSent() {
        create("ratelimit.policies.calls.limit=2/1m");
        assertThat(begin().decision().allowed()).isTrue();
        begin();
        assertThat(rejection()).hasMessageMatching("rate limit exceeded: calls; retry after \\d+ s");
        assertThat(events)
                .containsExactly("client:partner allowed", "client:partner allowed", "client:partner rejected");
    }

    @Test
    void onlyTheGivenThreadsDecideAboutAnAsynchronousCall() {
        create("ratelimit.policies.calls.limit=1/1m");
        Deque<Runnable> tasks = new ArrayDeque<>();
        List<CompletableFuture<Permit>> permits = IntStream.range(0, 2)
                .mapToObj(path -> calls.beginAsync(call(new Attempt(0, path, 0), null, null), tasks::add))
                .toList();
        assertThat(events).isEmpty();
        assertThat(permits).noneMatch(CompletableFuture::isDone);
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        assertThat(permits.get(0).join().decision().allowed()).isTrue();
        assertThat(permits.get(1)).isCompletedExceptionally();
        assertThat(permits.get(1)
                        .handle((permit, failure) -> failure.getCause())
                        .join())
                .isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void unknownClientIsAnError() {
        create("ratelimit.policies.calls.limit=2/1m");
        assertThatThrownBy(() -> calls.begin(new OutgoingCall(
                        "other", "", Optional.empty(), CallContext.NONE, new Attempt(0, 0, 0), null, null)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("WEIR-239 There is no client \"other\". Set ratelimit.clients.other.policy.");
    }

    @Test
    void disabledPolicyLimitsNothing() {
        create("ratelimit.policies.calls.limit=1/1m", "ratelimit.policies.calls.mode=off");
        begin();
        answer(begin(), 429, "Retry-After", "5");
        assertThat(rejection()).isNull();
    }

    /** A higher percentage keeps the keys, so the key is selected from one percentage on. */
    @Test
    void pauseBlocksAKeyInTheEnforcedShareOnly() {
        List<Boolean> paused = new ArrayList<>();
        for (int percent = 0; percent <= 100; percent++) {
            create(share(percent, "limit=100/1m"));
            answer(begin(), 429, "Retry-After", "5");
            paused.add(rejection() != null);
        }
        int first = paused.indexOf(true);
        assertThat(first).isBetween(2, 99);
        assertThat(paused.subList(first, 101)).containsOnly(true);
        create(share(first, "limit=1/1m"));
        begin();
        assertThat(rejection())
                .as("the policy rejects from the same percentage on")
                .isNotNull();
        create(share(first - 1, "limit=1/1m"));
        begin();
        assertThat(rejection()).isNull();
    }

    /** Returns the lines of the policy {@code calls} in shadow mode that is enforced for a share of the keys. */
    private static String[] share(int percent, String... attributes) {
        List<String> all = new ArrayList<>(List.of("mode=shadow", "enforce-percent=" + percent));
        all.addAll(List.of(attributes));
        return all.stream()
                .map(attribute -> "ratelimit.policies.calls." + attribute)
                .toArray(String[]::new);
    }

    @Test
    void quotaOfTheUpstreamLowersThatOfAnEnforcedKey() {
        create(share(100, "limit=100/1m", "algorithm=fixed-window"));
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(40);
        create(share(0, "limit=100/1m", "algorithm=fixed-window"));
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(99);
    }

    @Test
    void callOfAnEnforcedKeyThatHasASlotWaitsForAPauseThatBegins() {
        create(share(100, "limit=1/1s", "algorithm=leaky-bucket", "max-wait=10s"));
        assertThat(waitForAPauseThatBegins()).isBetween(4_000_000L, 5_000_001L);
    }

    @Test
    void pausePausesNoKeyInShadowModeWithoutTheBackend() {
        create(share(0, "limit=100/1m"));
        backendFails = true;
        answer(begin(), 429, "Retry-After", "5");
        assertThat(rejection()).isNull();
        create(share(100, "limit=100/1m"));
        answer(begin(), 429, "Retry-After", "5");
        assertThat(rejection()).isNotNull();
    }

    @Test
    void retryAfterPausesAllInstances() {
        LocalBackend shared = new LocalBackend(100, time);
        create(shared, "ratelimit.policies.calls.limit=100/1m");
        OutgoingCalls first = calls;
        create(shared, "ratelimit.policies.calls.limit=100/1m");
        OutgoingCalls second = calls;
        calls = first;
        answer(begin(), 429, "Retry-After", "5");
        calls = second;
        assertThat(pause()).hasValue(Duration.ofSeconds(5));
        advance(Duration.ofMillis(4_999));
        assertThat(pause()).hasValue(Duration.ofMillis(1));
        advance(Duration.ofMillis(1));
        assertThat(rejection()).isNull();
        assertThat(events).contains("partner paused STATUS");
    }

    @Test
    void statusWithoutATimePausesBriefly() {
        create("ratelimit.policies.calls.limit=100/1m");
        answer(begin(), 503);
        assertThat(rejection()).isNull();
        answer(begin(), 429);
        assertThat(pause()).hasValue(Duration.ofSeconds(1));
        advance(Duration.ofSeconds(1));
        answer(begin(), 429, "RateLimit", "\"a\";r=0;t=7");
        assertThat(pause()).hasValue(Duration.ofSeconds(7));
    }

    @Test
    void retryAfterTakesPrecedenceOverQuotas() {
        create("ratelimit.policies.calls.limit=100/1m");
        answer(begin(), 503, "Retry-After", "3", "RateLimit", "\"a\";r=0;t=7");
        assertThat(pause()).hasValue(Duration.ofSeconds(3));
    }

    @Test
    void exhaustedQuotaPauses() {
        create("ratelimit.policies.calls.limit=100/1m");
        answer(begin(), 200, "RateLimit-Remaining", "0", "RateLimit-Reset", "9");
        assertThat(pause()).hasValue(Duration.ofSeconds(9));
        assertThat(events).contains("partner paused QUOTA");
    }

    @Test
    void pausesAreBoundedAndReportedOnce() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.clients.partner.max-pause=10s");
        for (int i = 0; i < 2; i++) {
            answer(begin(), 429, "Retry-After", "31536000");
            assertThat(pause()).hasValue(Duration.ofSeconds(10));
            advance(Duration.ofSeconds(10));
            answer(begin(), 200, "Retry-After", "soon");
        }
        assertThat(log.lines())
                .containsExactly(
                        "WARNING WEIR-237 Client partner: the upstream asks for a pause of 31536000 s. The client pauses only for"
                                + " its max-pause of 10 s. This is logged once per client.",
                        "WARNING WEIR-236 Client partner: the upstream sends Retry-After with the value \"soon\", which is not of the"
                                + " standard form. The value counts as 30 s. This is logged once per client and field.");
    }

    @Test
    void obeysOnlyWhatIsConfigured() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.clients.partner.obey=none");
        answer(begin(), 429, "Retry-After", "5", "RateLimit", "\"a\";r=0;t=7");
        assertThat(rejection()).isNull();
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.clients.partner.obey=ratelimit");
        answer(begin(), 429, "Retry-After", "5");
        assertThat(rejection()).isNull();
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.clients.partner.obey=retry-after");
        answer(begin(), 200, "RateLimit", "\"a\";r=0;t=7");
        assertThat(rejection()).isNull();
    }

    @Test
    void callWaitsForTheEndOfAPause() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.max-wait=10s");
        answer(begin(), 429, "Retry-After", "5");
        long start = time.micros();
        begin();
        assertThat(time.micros() - start).isEqualTo(Duration.ofSeconds(5).toNanos() / 1_000);
        answer(begin(), 429, "Retry-After", "11");
        assertThat(pause()).hasValue(Duration.ofSeconds(11));
    }

    @Test
    void callThatHasASlotWaitsForAPauseThatBegins() {
        create(
                "ratelimit.policies.calls.limit=1/1s",
                "ratelimit.policies.calls.algorithm=leaky-bucket",
                "ratelimit.policies.calls.max-wait=10s");
        assertThat(waitForAPauseThatBegins()).isBetween(4_000_000L, 5_000_001L);
    }

    /** Lets the upstream ask for a pause of four seconds while a call waits for its slot. Returns the wait of the call, in microseconds. */
    private long waitForAPauseThatBegins() {
        Permit first = begin();
        long start = time.micros();
        meanwhile = () -> {
            meanwhile = () -> {};
            answer(first, 429, "Retry-After", "4");
        };
        begin();
        return time.micros() - start;
    }

    @Test
    void callThatMeetsAPauseAfterEachWaitIsRejected() {
        create(
                "ratelimit.policies.calls.limit=1/1s",
                "ratelimit.policies.calls.algorithm=leaky-bucket",
                "ratelimit.policies.calls.max-wait=10s");
        Permit first = begin();
        begin();
        meanwhile = () -> answer(first, 429, "Retry-After", "4");
        assertThat(rejection()).isNotNull();
        meanwhile = () -> {};
        assertThat(events).contains("partner paused STATUS");
    }

    @Test
    void quotaOfTheUpstreamLowersTheOwnOne() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(40);
        answer(begin(), 200, "RateLimit", "\"a\";r=90;t=60");
        assertThat(remaining()).as("a higher quota raises nothing").isEqualTo(39);
        answer(begin(), 200, "RateLimit", "\"a\";r=12;t=60, \"b\";r=20;t=60");
        assertThat(remaining()).isEqualTo(12);
        advance(Duration.ofMinutes(1));
        assertThat(remaining()).isEqualTo(100);
    }

    @Test
    void lowerQuotaDoesNotOutlastThatOfTheUpstream() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=58");
        assertThat(remaining()).as("the own window ends two seconds later").isEqualTo(99);
        create("ratelimit.policies.calls.limit=100/100s", "ratelimit.policies.calls.algorithm=token-bucket");
        answer(begin(), 200, "RateLimit", "\"a\";r=89;t=9");
        assertThat(remaining())
                .as("ten permits return in ten seconds, after one second")
                .isEqualTo(99);
        answer(begin(), 200, "RateLimit", "\"a\";r=89;t=10");
        assertThat(remaining()).isEqualTo(89);
    }

    /** A sliding window counts a call for longer than its window. */
    @ParameterizedTest
    @CsvSource({"sliding-window, 99", "sliding-log, 40", "token-bucket, 40"})
    void theAlgorithmDecidesWhetherAQuotaOfTheSameWindowIsLowered(String algorithm, long remaining) {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=" + algorithm);
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(remaining);
    }

    /** Another application has spent 59 permits of the upstream, before 20 calls that it answers in any order. */
    @ParameterizedTest
    @CsvSource({
        "fixed-window, false",
        "fixed-window, true",
        "sliding-log, false",
        "sliding-log, true",
        "token-bucket, false",
        "token-bucket, true"
    })
    void callsInFlightLowerTheQuotaOnce(String algorithm, boolean reversed) {
        LocalBackend shared = new LocalBackend(100, time);
        Map<Permit, OutgoingCalls> sent = new LinkedHashMap<>();
        for (int instance = 0; instance < 2; instance++) {
            create(shared, "ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=" + algorithm);
            for (int i = 0; i < 10; i++) {
                sent.put(begin(), calls);
            }
        }
        List<Permit> order = new ArrayList<>(sent.keySet());
        if (reversed) {
            Collections.reverse(order);
        }
        List<Permit> counted = List.copyOf(sent.keySet());
        for (Permit permit : order) {
            calls = sent.get(permit);
            long reported = 40 - counted.indexOf(permit);
            answer(permit, 200, "RateLimit", "\"a\";r=" + reported + ";t=60");
            assertThat(remaining()).isBetween(Math.min(reported, 21), reported);
        }
        assertThat(remaining()).as("the upstream has counted all calls").isEqualTo(21);
    }

    @Test
    void responseThatArrivesWhileAnotherLowersTheQuotaDoesNotLowerItAgain() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        Permit first = begin();
        Permit second = begin();
        after.put("peek", () -> answer(second, 200, "RateLimit", "\"a\";r=39;t=60"));
        answer(first, 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(40);
        answer(begin(), 200, "RateLimit", "\"a\";r=38;t=60");
        assertThat(remaining()).as("the next response lowers it").isEqualTo(38);
    }

    @Test
    void quotaThatCannotBeReadIsLoweredByALaterResponse() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        Permit first = begin();
        Permit second = begin();
        backendFails = true;
        answer(first, 200, "RateLimit", "\"a\";r=40;t=60");
        backendFails = false;
        assertThat(remaining()).isEqualTo(98);
        answer(second, 200, "RateLimit", "\"a\";r=39;t=60");
        assertThat(remaining()).isEqualTo(39);
    }

    @Test
    void onlyThePolicyOfTheWindowIsLowered() {
        create(
                "ratelimit.clients.partner.policy=calls, day",
                "ratelimit.policies.calls.limit=100/1m",
                "ratelimit.policies.calls.algorithm=fixed-window",
                "ratelimit.policies.day.limit=1000/1d",
                "ratelimit.policies.day.algorithm=fixed-window");
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(40);
        assertThat(limiter.peek("day", KEY).get(0).remaining()).isEqualTo(999);
    }

    @Test
    void severalLimitsAreNotLowered() {
        create("ratelimit.policies.calls.limit=100/1m, 1000/1d", "ratelimit.policies.calls.algorithm=fixed-window");
        answer(begin(), 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).isEqualTo(99);
    }

    @Test
    void retriesAboveTheBudgetAreRejected() {
        create("ratelimit.policies.calls.limit=1000/1m");
        Attempt attempt = new Attempt(1, 1, 0);
        answer(calls.begin(call(attempt, null, null)), 500);
        for (int i = 0; i < RetryBudget.RESERVE; i++) {
            answer(calls.begin(call(attempt, null, null)), 500);
        }
        RateLimitExceededException rejection =
                catchThrowableOfType(RateLimitExceededException.class, () -> calls.begin(call(attempt, null, null)));
        assertThat(rejection).hasMessage("rate limit exceeded: calls (retry budget of client partner)");
        assertThat(rejection.retryAfter()).isEmpty();
        assertThat(rejection.decision().quotas())
                .singleElement()
                .returns("calls", quota -> quota.policy())
                .returns("partner-retry-budget", quota -> quota.name());
        assertThat(remaining()).as("the rejected retry spends nothing").isEqualTo(1_000 - 1 - RetryBudget.RESERVE);
        assertThat(events).contains("partner retried true", "partner retried false");
        begin();
        assertThatThrownBy(() -> calls.begin(call(new Attempt(5, 5, 5), true, null)))
                .as("application code marks a retry")
                .isInstanceOf(RateLimitExceededException.class);
    }

    /** A call without a connection ends unseen, so it cannot be told from one in flight. */
    @Test
    void equalCallInFlightMakesACallARetryUnlessItIsMarked() {
        create("ratelimit.policies.calls.limit=1000/1m", "ratelimit.clients.partner.retry-budget=0%");
        Attempt attempt = new Attempt(1, 1, 0);
        Permit inFlight = calls.begin(call(attempt, null, null));
        assertThatThrownBy(() -> calls.begin(call(attempt, null, null)))
                .hasMessage("rate limit exceeded: calls (retry budget of client partner)");
        Permit parallel = calls.begin(call(attempt, false, null));
        answer(inFlight, 200);
        answer(parallel, 200);
        calls.begin(call(attempt, null, null));
        assertThat(events)
                .filteredOn(event -> event.startsWith("partner retried"))
                .containsExactly("partner retried false");
    }

    @Test
    void retryThatIsNotSentStaysInTheBudget() {
        create("ratelimit.policies.calls.limit=1/1m");
        Attempt attempt = new Attempt(1, 1, 0);
        answer(calls.begin(call(attempt, null, null)), 500);
        for (int i = 0; i < 2 * RetryBudget.RESERVE; i++) {
            assertThatThrownBy(() -> calls.begin(call(attempt, null, null)))
                    .hasMessageMatching("rate limit exceeded: calls; retry after \\d+ s")
                    .extracting(thrown -> ((RateLimitExceededException) thrown).retryAfter())
                    .satisfies(
                            retryAfter -> assertThat((Optional<?>) retryAfter).isPresent());
        }
    }

    @Test
    void decisionOfTheApplicationIsNotTakenAgain() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        Decision decision = limiter.acquire("calls", KEY);
        Permit permit = calls.begin(call(new Attempt(0, 0, 0), null, decision));
        assertThat(permit.decision()).isSameAs(decision);
        answer(permit, 200, "RateLimit", "\"a\";r=40;t=60");
        assertThat(remaining()).as("the code keeps the receipt").isEqualTo(99);
        answer(permit, 429, "Retry-After", "5");
        assertThat(pause()).hasValue(Duration.ofSeconds(5));
    }

    @Test
    void pauseThatBeginsDuringTheWaitOfAnApplicationRejectsItsCall() {
        create(
                "ratelimit.policies.calls.limit=10/10s",
                "ratelimit.policies.calls.algorithm=token-bucket",
                "ratelimit.policies.calls.max-wait=10s");
        Permit first = begin();
        meanwhile = () -> answer(first, 429, "Retry-After", "4");
        Decision decision = limiter.acquire("calls", KEY, 10);
        long start = time.micros();
        assertThatThrownBy(() -> calls.begin(call(new Attempt(0, 0, 0), null, decision)))
                .hasMessage("rate limit exceeded: calls (pause of client partner); retry after 3 s");
        assertThat(time.micros()).as("the call does not wait again").isEqualTo(start);
        limiter.unblock("calls", KEY);
        assertThat(remaining()).as("the code keeps the receipt").isZero();
        limiter.refund(decision.receipt());
        assertThat(remaining()).isEqualTo(10);
    }

    @Test
    void pauseThatIsNotStoredRefundsNoDecisionOfTheApplication() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        Decision decision = limiter.acquire("calls", KEY, 50);
        blocksFail = true;
        answer(begin(), 429, "Retry-After", "5");
        assertThatThrownBy(() -> calls.begin(call(new Attempt(0, 0, 0), null, decision)))
                .isInstanceOf(RateLimitExceededException.class);
        assertThat(remaining()).as("the code keeps the receipt").isEqualTo(49);
        limiter.refund(decision.receipt());
        assertThat(remaining()).isEqualTo(99);
    }

    @Test
    void failureModesApply() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.on-failure=closed");
        backendFails = true;
        assertThatThrownBy(this::begin).isInstanceOf(RateLimitUnavailableException.class);
        create("ratelimit.policies.calls.limit=100/1m");
        assertThat(begin().decision()).isInstanceOf(Decision.Degraded.class);
    }

    @Test
    void instancePausesItselfWithoutTheBackend() {
        create("ratelimit.policies.calls.limit=100/1m");
        backendFails = true;
        answer(begin(), 429, "Retry-After", "5");
        assertThat(rejection()).hasMessage("rate limit exceeded: calls (pause of client partner); retry after 5 s");
        assertThat(rejection().decision().quotas()).singleElement().returns("partner-pause", quota -> quota.name());
        assertThat(pause()).hasValue(Duration.ofSeconds(5));
        advance(Duration.ofSeconds(5));
        assertThat(rejection()).isNull();
        answer(begin(), 429, "Retry-After", "5");
        assertThat(log.lines())
                .filteredOn(line -> line.startsWith(
                        "WARNING WEIR-238 Client partner: the pause of 5 s could not be stored in the backend"))
                .as("once for each outage")
                .hasSize(1);
    }

    @Test
    void aPauseThatBeganWithoutTheBackendLastsForItsTimeAndIsStoredAfterwards() {
        LocalBackend shared = new LocalBackend(100, time);
        create(shared, "ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        OutgoingCalls first = calls;
        create(shared, "ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.algorithm=fixed-window");
        OutgoingCalls second = calls;
        calls = first;
        Permit permit = begin();
        backendFails = true;
        answer(permit, 429, "Retry-After", "60");
        advance(Duration.ofSeconds(1));
        backendFails = false;
        assertThat(pause()).hasValue(Duration.ofSeconds(59));
        calls = second;
        assertThat(pause()).as("the other instance pauses too").hasValue(Duration.ofSeconds(59));
        assertThat(stored).singleElement().asString().startsWith("calls ").endsWith(" PT59S");
        calls = first;
        limiter.unblock("calls", KEY);
        assertThat(remaining()).as("a call that is not sent costs nothing").isEqualTo(99);
        assertThat(rejection()).as("the block ends the pause").isNull();
    }

    @Test
    void aPauseThatTheBackendCannotStoreYetLastsForItsTime() {
        create("ratelimit.policies.calls.limit=100/1m");
        Permit permit = begin();
        blocksFail = true;
        answer(permit, 429, "Retry-After", "5");
        assertThat(pause()).hasValue(Duration.ofSeconds(5));
        assertThat(pause()).hasValue(Duration.ofSeconds(5));
        advance(Duration.ofSeconds(5));
        assertThat(rejection()).isNull();
    }

    @Test
    void aShorterPauseThatIsStoredDoesNotEndALongerOneThatIsNot() {
        create("ratelimit.policies.calls.limit=100/1m");
        Permit longer = begin();
        Permit shorter = begin();
        blocksFail = true;
        answer(longer, 429, "Retry-After", "60");
        blocksFail = false;
        answer(shorter, 429, "Retry-After", "1");
        assertThat(stored).singleElement().asString().endsWith(" PT1M");
        assertThat(pause()).hasValue(Duration.ofSeconds(60));
    }

    @Test
    void aCallOfWhichAnotherCallHasStoredThePauseAfterItsDecisionIsNotSent() {
        create("ratelimit.policies.calls.limit=100/1m");
        Permit permit = begin();
        blocksFail = true;
        answer(permit, 429, "Retry-After", "60");
        blocksFail = false;
        after.put("acquire", () -> assertThat(pause()).hasValue(Duration.ofSeconds(60)));
        assertThat(pause()).hasValue(Duration.ofSeconds(60));
        assertThat(stored).hasSize(1);
        limiter.unblock("calls", KEY);
        assertThat(remaining()).isEqualTo(99);
    }

    @Test
    void aLongerPauseThatBeginsDuringTheStoringOfAnotherStays() {
        LocalPauses unstored = new LocalPauses(() -> time.micros() * 1_000);
        unstored.pause(KEY, 1_000_000);
        assertThat(unstored.handOver(KEY, rest -> {
                    unstored.pause(KEY, 60_000_000);
                    return rest == 1_000_000;
                }))
                .isEqualTo(1_000_000);
        assertThat(unstored.restMicros(KEY)).isEqualTo(60_000_000);
        assertThat(unstored.handOver(KEY, rest -> true)).isEqualTo(60_000_000);
        assertThat(unstored.restMicros(KEY)).isZero();
    }

    @Test
    void callSpendsTheCostOfThePolicy() {
        create("ratelimit.policies.calls.limit=100/1m", "ratelimit.policies.calls.cost=5");
        begin();
        assertThat(remaining()).isEqualTo(95);
    }

    /** Returns the pause after a response of a new client whose policy has much room, zero without a pause. */
    private Duration pauseAfter(int status, String... namesAndLines) {
        create("ratelimit.policies.calls.limit=1000/1h", "ratelimit.clients.partner.max-pause=10m");
        answer(begin(), status, namesAndLines);
        return pause().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 403, 404, 413, 418, 420, 429, 500, 502, 503, 529, 599})
    @Tag("field")
    void anyErrorWithRetryAfterPauses(int status) {
        assertThat(pauseAfter(status, "Retry-After", "60")).isEqualTo(Duration.ofSeconds(60));
        assertThat(pauseAfter(status, "Retry-After", "299.997")).isEqualTo(Duration.ofSeconds(300));
        assertThat(pauseAfter(status, "Retry-After", "soon")).isEqualTo(Duration.ofSeconds(30));
        assertThat(pauseAfter(status)).isEqualTo(Duration.ofSeconds(status == 429 ? 1 : 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 202, 301, 304, 399})
    void retryAfterWithoutAnErrorPausesNothing(int status) {
        assertThat(pauseAfter(status, "Retry-After", "60")).isZero();
    }

    /** Many upstreams round a wait of less than a second down. */
    @Test
    @Tag("field")
    void aLimitedCallPausesForASecondAtLeast() {
        for (String zero : List.of("0", "0.0", "0ms", "Thu, 15 Jan 2026 09:59:59 GMT")) {
            assertThat(pauseAfter(429, "Retry-After", zero)).hasSeconds(1);
            assertThat(pauseAfter(503, "Retry-After", zero)).isZero();
        }
        assertThat(pauseAfter(429, "Retry-After-Ms", "0")).hasSeconds(1);
    }

    @Test
    @Tag("field")
    void resetInAnyFormPausesUntilItsEnd() {
        assertThat(pauseAfter(200, "RateLimit", "\"a\";r=0;t=12.5")).isEqualTo(Duration.ofSeconds(13));
        assertThat(pauseAfter(200, "RateLimit", "\"a\";r=0;t=12.5", "RateLimit-Policy", "\"a\";q=10;w=200"))
                .isEqualTo(Duration.ofSeconds(13));
        assertThat(pauseAfter(200, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "6m0s"))
                .isEqualTo(Duration.ofMinutes(6));
        assertThat(pauseAfter(429, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1768471230.602"))
                .isEqualTo(Duration.ofSeconds(31));
        assertThat(pauseAfter(429, "RateLimit", "\"a\";r=0;t=6m0s"))
                .as("an invalid field")
                .isEqualTo(Duration.ofSeconds(30));
        assertThat(pauseAfter(429, "RateLimit-Policy", "100;w=60", "RateLimit-Remaining", "0", "RateLimit-Reset", "2"))
                .as("the draft 06")
                .isEqualTo(Duration.ofSeconds(2));
        assertThat(log.lines()).noneMatch(line -> line.contains("RateLimit-Policy"));
    }

    @Test
    @Tag("field")
    void storedResponseReportsThePast() {
        assertThat(pauseAfter(200, "Age", "1800", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "600"))
                .isZero();
        assertThat(pauseAfter(200, "Age", "1800", "RateLimit", "\"a\";r=0;t=600"))
                .isZero();
        assertThat(pauseAfter(429, "Age", "290", "Retry-After", "300")).isEqualTo(Duration.ofSeconds(10));
        assertThat(pauseAfter(429, "Age", "1800", "Retry-After", "300")).isZero();
        assertThat(pauseAfter(429, "Age", "1800")).isZero();
        assertThat(pauseAfter(429, "Age", "0", "Retry-After", "300")).isEqualTo(Duration.ofSeconds(300));
        String halfAnHourAgo = "Thu, 15 Jan 2026 09:30:00 GMT";
        for (String age : List.of("1800", "0")) {
            assertThat(pauseAfter(
                            200,
                            "Age",
                            age,
                            "Date",
                            halfAnHourAgo,
                            "X-RateLimit-Remaining",
                            "0",
                            "X-RateLimit-Reset",
                            "1768470000"))
                    .as("20 minutes ago")
                    .isZero();
            assertThat(pauseAfter(
                            429, "Age", age, "Date", halfAnHourAgo, "Retry-After", "Thu, 15 Jan 2026 09:35:00 GMT"))
                    .as("25 minutes ago")
                    .hasSeconds(age.equals("0") ? 1 : 0);
        }
    }

    /** A clock that is behind by a few minutes is no cache. */
    @Test
    void clockOfTheUpstreamCanBeBehind() {
        assertThat(pauseAfter(
                        429, "Date", "Thu, 15 Jan 2026 09:55:00 GMT", "Retry-After", "Thu, 15 Jan 2026 09:56:00 GMT"))
                .isEqualTo(Duration.ofSeconds(60));
        assertThat(pauseAfter(429, "Date", "Thu, 15 Jan 2026 06:00:00 GMT", "Retry-After", "60"))
                .isEqualTo(Duration.ofSeconds(60));
    }

    /** The number of another unit is not one of calls, and a quota without a reset says nothing about later calls. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'\"par\";q=2;qu=\"concurrent-requests\"' | '\"par\";r=0' | 999 | 0",
                "'\"par\";q=2;qu=\"concurrent-requests\"' | '\"par\";r=0;t=1' | 999 | 0",
                "'\"par\";q=2;qu=\"concurrent-requests\"' | '\"par\";r=1' | 999 | 0",
                "'\"b\";q=1000000;w=1;qu=\"content-bytes\"' | '\"b\";r=3;t=1' | 999 | 0",
                "'\"b\";q=1000000;w=1;qu=\"content-bytes\"' | '\"b\";r=0;t=7' | 0 | 7",
                "'\"s-1m\";q=2000;w=60, \"s-c\";q=2;qu=\"concurrent-requests\"' | '\"s-1m\";r=1900;t=60, \"s-c\";r=1'"
                        + " | 999 | 0",
                "'' | '\"a\";r=5' | 999 | 0",
                "'\"a\";q=5;w=soon' | '\"a\";r=5' | 999 | 0",
                "'' | '\"a\";r=5;t=0' | 999 | 0",
                "'\"a\";q=5;w=1;qu=\"requests\"' | '\"a\";r=5;t=1' | 5 | 0",
            })
    @Tag("field")
    void onlyAQuotaOfCallsLowersTheOwnOne(String policy, String quota, long remaining, long pauseSeconds) {
        create("ratelimit.policies.calls.limit=1000/1s", "ratelimit.policies.calls.algorithm=fixed-window");
        answer(begin(), 200, "RateLimit-Policy", policy, "RateLimit", quota);
        assertThat(remaining()).isEqualTo(remaining);
        assertThat(pause()).hasValue(Duration.ofSeconds(pauseSeconds));
    }

    /** Polls from one thread and from several in turn, of an upstream that answers or does not. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "1, 4", "2, 1", "3, 1", "3, 2", "5, 3", "9, 1", "12, 2"})
    @Tag("field")
    void callEveryFewSecondsIsNoStorm(int seconds, int threads) {
        for (boolean answered : new boolean[] {true, false}) {
            create("ratelimit.policies.calls.limit=100/1m");
            for (int poll = 0; poll < 300; poll++) {
                Permit permit = calls.begin(call(new Attempt(poll % threads, 1, 0), null, null));
                if (answered) {
                    answer(permit, 503);
                }
                advance(Duration.ofSeconds(seconds));
            }
            assertThat(events).doesNotContain("partner retried false");
        }
    }
}
