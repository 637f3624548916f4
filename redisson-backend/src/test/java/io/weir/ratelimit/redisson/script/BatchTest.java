// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import static io.weir.ratelimit.redisson.FakeReply.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.redisson.AcquireRequests;
import io.weir.ratelimit.redisson.FakeReply;
import io.weir.ratelimit.redisson.SentGroup;
import io.weir.ratelimit.redisson.TestBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The groups of requests in a batch, and their results from its reply. */
public class BatchTest {
    private static final Limit FIXED = Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofHours(1));
    private static final Limit OTHER = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1));
    private static final Charge OF_OTHER = new Charge(new PolicyLimits("other", List.of(OTHER)), "k.a", 1);
    private static final Limit LOG = Limit.of(Algorithm.SLIDING_LOG, 3, Duration.ofHours(1));
    private static final Limit QUEUE =
            Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(5));

    private final AcquireRequests requests = AcquireRequests.in("test");

    @Test
    void groupsEqualRequestsInARow() {
        Batch batch = batch(spend("k.a"), spend("k.a"), spend("k.b"), spend("k.a"), spend("k.b"));
        assertThat(batch.size()).isEqualTo(5);
        assertThat(batch.keys()).containsExactly(key("k.a"), key("k.b"));
        assertThat(SentGroup.of(batch)).extracting(SentGroup::count).containsExactly(3, 2);
    }

    @Test
    void startsANewGroupAfterAnotherRequestOnTheKey() {
        Batch batch = batch(
                spend("k.a"),
                spend("k.a"),
                requests.spend("k.a", 2, FIXED),
                spend("k.a"),
                requests.peek("k.a", 1, FIXED));
        assertThat(SentGroup.of(batch)).extracting(SentGroup::count).containsExactly(2, 1, 1, 1);
        assertThat(SentGroup.of(batch)).extracting(SentGroup::spends).containsExactly(true, true, true, false);
        assertThat(SentGroup.of(batch))
                .extracting(group -> group.costs().get(0))
                .containsExactly(1L, 2L, 1L, 1L);
    }

    @Test
    void startsANewGroupAfterAnotherRequestOnAnyOfSeveralKeys() {
        Batch batch = batch(both(), both(), other(), both(), both(), spend("k.a"), both());
        assertThat(SentGroup.of(batch)).extracting(SentGroup::count).containsExactly(2, 1, 2, 1, 1);
        String other = requests.keys().of(OF_OTHER);
        assertThat(batch.keys())
                .containsExactly(key("k.a"), other, other, key("k.a"), other, key("k.a"), key("k.a"), other);
    }

    @Test
    void doesNotGroupOtherCostsOrMaxWaitsOrPeeks() {
        Batch batch = batch(
                mayWait(0),
                mayWait(0),
                mayWait(1_000),
                mayWait(1_000),
                requests.peek("k.b", 1, FIXED),
                requests.peek("k.b", 1, FIXED));
        assertThat(SentGroup.of(batch)).extracting(SentGroup::count).containsExactly(2, 2, 1, 1);
        assertThat(SentGroup.of(batch).get(1).maxDelayMicros()).containsExactly(1_000L);
    }

    @Test
    void aRequestWithOtherLimitsOfAKeyIsAnotherGroup() {
        Limit raised = Limit.of(Algorithm.FIXED_WINDOW, 4, Duration.ofHours(1));
        Batch batch = batch(
                spend("k.a"),
                requests.spend("k.a", 1, raised),
                requests.spend(List.of(TestBackend.charge("k.new", 1, FIXED), TestBackend.charge("k.a", 1, raised))),
                spend("k.new"));
        assertThat(batch.keys()).containsExactly(key("k.a"), key("k.a"), key("k.new"), key("k.a"), key("k.new"));
        assertThat(SentGroup.of(batch)).extracting(SentGroup::count).containsExactly(1, 1, 1, 1);
    }

    @Test
    void holdsAtMost256KeysAndAnyNumberOfRequestsOnThem() {
        Batch batch = batch(spend("k.0"));
        for (int i = 1; i < 255; i++) {
            assertThat(batch.add(spend("k." + i))).isTrue();
        }
        assertThat(batch.add(requests.spend("k.last", 1, FIXED, OTHER))).isFalse();
        assertThat(batch.add(spend("k.last"))).isTrue();
        assertThat(batch.add(spend("k.beyond"))).isFalse();
        for (int i = 0; i < 1_000; i++) {
            assertThat(batch.add(spend("k." + i % 255))).isTrue();
        }
        assertThat(batch.keys()).hasSize(256);
        assertThat(batch.size()).isEqualTo(1_256);
    }

    @Test
    void holdsARequestWithMoreKeysAlone() {
        List<Charge> charges = IntStream.range(0, 300)
                .mapToObj(i -> new Charge(new PolicyLimits("p" + i, List.of(FIXED)), "k.a", 1))
                .toList();
        Batch batch = batch(requests.spend(charges));
        assertThat(batch.add(spend("k.b"))).isFalse();
        assertThat(batch.keys()).hasSize(300);
        assertThat(SentGroup.of(batch))
                .singleElement()
                .satisfies(group -> assertThat(group.keys()).isEqualTo(batch.keys()));
    }

    @Test
    void spendsTheFirstRequestsOfAGroupAndRejectsTheOthers() {
        List<AcquireRequest> all = List.of(spend("k.a"), spend("k.a"), spend("k.a"), spend("k.a"));
        Batch batch = batch(all.toArray(AcquireRequest[]::new));
        batch.complete(new FakeReply().allowed(2).fixedWindow(NOW - 1, 1).bytes());
        assertThat(all.stream().map(BatchTest::decision).map(Decision::allowed))
                .containsExactly(true, true, false, false);
        assertThat(all.stream().map(request -> quota(request).remaining())).containsExactly(1L, 0L, 0L, 0L);
        assertThat(states(all.get(0))).containsExactly(new FixedWindowState(NOW - 1, 2));
        assertThat(states(all.get(1))).containsExactly(new FixedWindowState(NOW - 1, 3));
        assertThat(Micros.retryAfter(quota(all.get(2)))).isEqualTo(FIXED.windowMicros() - 1);
    }

    @Test
    void decidesOnEachGroupWithTheStatesBeforeIt() {
        AcquireRequest first = spend("k.a");
        AcquireRequest expensive = requests.spend("k.a", 5, FIXED);
        AcquireRequest peek = requests.peek("k.a", 1, FIXED);
        AcquireRequest second = requests.spend("k.a", 2, FIXED);
        AcquireRequest last = requests.peek("k.a", 1, FIXED);
        Batch batch = batch(first, expensive, peek, second, last);
        batch.complete(new FakeReply()
                .allowed(1)
                .untouched()
                .allowed(0)
                .fixedWindow(NOW, 1)
                .allowed(1)
                .fixedWindow(NOW, 1)
                .allowed(1)
                .fixedWindow(NOW, 1)
                .allowed(0)
                .fixedWindow(NOW, 3)
                .bytes());
        assertThat(quota(first).remaining()).isEqualTo(2);
        assertThat(quota(expensive).rejected()).isTrue();
        assertThat(Micros.retryAfter(quota(expensive))).isEqualTo(Micros.NEVER);
        assertThat(quota(peek).remaining()).isEqualTo(2);
        assertThat(peek.join().hasRoom()).isTrue();
        assertThat(peek.join().spent()).isFalse();
        assertThat(decision(second).allowed()).isTrue();
        assertThat(quota(second).remaining()).isZero();
        assertThat(last.join().hasRoom()).isFalse();
        assertThat(quota(last).rejected()).isTrue();
    }

    @Test
    void sendsTheLimitsOfAPolicyOnceForManyKeys() {
        Batch one = batch(requests.spend("k.1", 1, FIXED, OTHER));
        Batch three = batch(
                requests.spend("k.1", 1, FIXED, OTHER),
                requests.spend("k.2", 1, FIXED, OTHER),
                requests.spend("k.3", 1, FIXED, OTHER));
        assertThat(AcquireCodec.encode(three, 0)).hasSize(AcquireCodec.encode(one, 0).length);
        assertThat(SentGroup.of(three)).extracting(SentGroup::count).containsExactly(1, 1, 1);
        three.complete(FakeReply.allowing(three));
        assertThat(three.groups())
                .allSatisfy(group -> assertThat(states(group.first()))
                        .containsExactly(new FixedWindowState(NOW, 1), new FixedWindowState(NOW, 1)));
    }

    @Test
    void boundsTheLimitsOfDifferentRequestsOnOneKey() {
        Batch batch = batch(requests.spend("k.a", 1, FIXED, OTHER));
        int requestsOfBatch = 1;
        while (batch.add(requests.spend("k.a", 1 + requestsOfBatch % 2, FIXED, OTHER))) {
            requestsOfBatch++;
        }
        assertThat(requestsOfBatch).isEqualTo(128);
    }

    @Test
    void spendsBothKeysOfARequestOrNone() {
        List<AcquireRequest> all = List.of(both(), both(), both());
        AcquireRequest alone = other();
        Batch batch = batch(all.get(0), all.get(1), all.get(2), alone);
        batch.complete(new FakeReply()
                .allowed(2)
                .fixedWindow(NOW, 1)
                .untouched()
                .allowed(1)
                .fixedWindow(NOW, 2)
                .bytes());
        assertThat(all.stream().map(BatchTest::decision).map(Decision::allowed)).containsExactly(true, true, false);
        assertThat(states(all.get(1))).containsExactly(new FixedWindowState(NOW, 3), new FixedWindowState(NOW, 2));
        assertThat(decision(all.get(2)).quotas()).extracting(Quota::rejected).containsExactly(true, false);
        assertThat(quota(alone).remaining()).isEqualTo(2);
    }

    @Test
    void delaysTheRequestsOfAGroupOneAfterTheOther() {
        List<AcquireRequest> all = List.of(mayWait(200_000), mayWait(200_000), mayWait(200_000), mayWait(200_000));
        Batch batch = batch(all.toArray(AcquireRequest[]::new));
        batch.complete(
                new FakeReply().allowed(3).bucket(NOW, 0, QUEUE.unitExponent()).bytes());
        assertThat(all.stream().map(request -> request.join().waitMicros()))
                .containsExactly(0L, 100_000L, 200_000L, 0L);
        assertThat(Micros.retryAfter(quota(all.get(3)))).isEqualTo(100_000);
    }

    @Test
    void readsEachStateAsOfTheInstantOfTheScript() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1));
        long hour = limit.windowMicros();
        List<AcquireRequest> all = Stream.of("k.a", "k.b", "k.c", "k.d", "k.e")
                .map(key -> requests.spend(key, 1, limit))
                .toList();
        Batch batch = batch(all.toArray(AcquireRequest[]::new));
        batch.complete(new FakeReply()
                .allowed(1)
                .slidingWindow(NOW - 5, 8, 2)
                .allowed(1)
                .slidingWindow(NOW - hour - 7, 3, 2)
                .allowed(0)
                .slidingWindow(NOW - 5, 11, 12)
                .allowed(0)
                .debt('s', NOW - 5, 11, 12)
                .allowed(1)
                .untouched()
                .bytes());
        assertThat(all.stream().map(BatchTest::states))
                .containsExactly(
                        List.of(new SlidingWindowState(NOW - 5, 9, 2)),
                        List.of(new SlidingWindowState(NOW - 7, 1, 3)),
                        List.of(new SlidingWindowState(NOW - 5, 10, 10)),
                        List.of(new SlidingWindowState(NOW - 5, 11, 12, true)),
                        List.of(new SlidingWindowState(NOW, 1, 0)));
    }

    @Test
    void readsTheAwaitedLogEntryOfEachGroup() {
        AcquireRequest one = requests.spend("k.a", 1, LOG);
        AcquireRequest two = requests.spend("k.a", 2, LOG);
        AcquireRequest three = requests.spend("k.a", 3, LOG);
        Batch batch = batch(one, two, three);
        long oldest = NOW - 2_000;
        long newest = NOW - 1_000;
        batch.complete(new FakeReply()
                .allowed(1)
                .log(oldest, newest, 2, oldest)
                .allowed(0)
                .log(oldest, NOW, 3, newest)
                .allowed(0)
                .log(oldest, NOW, 3, NOW)
                .bytes());
        assertThat(decision(one).allowed()).isTrue();
        assertThat(Micros.retryAfter(quota(two))).isEqualTo(newest + LOG.windowMicros() - NOW);
        assertThat(Micros.retryAfter(quota(three))).isEqualTo(LOG.windowMicros());
    }

    @Test
    void eachLogOfARequestHasItsOwnAwaitedEntry() {
        Limit longer = Limit.of(Algorithm.SLIDING_LOG, 9, Duration.ofHours(2));
        AcquireRequest request = requests.spend("k.a", 2, LOG, longer);
        Batch batch = batch(request);
        long oldest = NOW - 2_000;
        batch.complete(new FakeReply()
                .allowed(0)
                .log(oldest, NOW, 3, NOW - 1_000)
                .log(oldest, NOW, 9, NOW - 500)
                .bytes());
        assertThat(request.join().quotas())
                .extracting(Micros::retryAfter)
                .containsExactly(LOG.windowMicros() - 1_000, longer.windowMicros() - 500);
    }

    @Test
    void theLatestDeadlineOfItsRequestsIsThatOfTheBatch() {
        assertThat(batch(due(200), due(100), due(300), due(50)).deadlineNanos()).isEqualTo(300);
        assertThat(batch(due(-100), due(-200)).deadlineNanos()).isEqualTo(-100);
        assertThat(batch(due(Long.MAX_VALUE), due(Long.MIN_VALUE)).deadlineNanos())
                .as("the clock has no origin, and can pass its greatest value")
                .isEqualTo(Long.MIN_VALUE);
    }

    private AcquireRequest due(long deadlineNanos) {
        return requests.spend(TestBackend.charge("k.a", 1, FIXED), deadlineNanos);
    }

    @Test
    void knowsWhetherAPolicyHasALimitByTheCalendar() {
        Limit month = CalendarLimit.of(10, new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneOffset.UTC, 1));
        assertThat(batch(spend("k.a"), requests.spend("k.b", 1, FIXED, OTHER)).hasCalendarLimit())
                .isFalse();
        assertThat(batch(spend("k.a"), requests.spend("k.b", 1, FIXED, month)).hasCalendarLimit())
                .isTrue();
        assertThat(batch(requests.spend("k.b", 1, month), spend("k.a")).hasCalendarLimit())
                .isTrue();
    }

    @Test
    void aForeignValueFailsOnlyTheRequestsOfItsKey() {
        List<AcquireRequest> bad = List.of(spend("k.bad"), spend("k.bad"));
        List<AcquireRequest> good = List.of(spend("k.a"), requests.spend("k.log", 1, LOG), spend("k.b"));
        Batch batch = batch(good.get(0), bad.get(0), good.get(1), bad.get(1), good.get(2));
        batch.complete(new FakeReply()
                .allowed(1)
                .untouched()
                .foreign()
                .allowed(1)
                .log(0, 0, 0, 0)
                .allowed(1)
                .untouched()
                .bytes());
        assertThat(good)
                .allSatisfy(request -> assertThat(decision(request).allowed()).isTrue());
        bad.forEach(request -> assertFailed(request, Reason.FOREIGN_STATE));
    }

    @Test
    void failsAllRequestsWithTheReason() {
        List<AcquireRequest> all = List.of(spend("k.a"), spend("k.a"), requests.peek("k.b", 1, FIXED));
        batch(all.toArray(AcquireRequest[]::new)).fail(new BackendException(Reason.CONNECTION, "gone", null));
        all.forEach(request -> assertFailed(request, Reason.CONNECTION));
    }

    public static void assertFailed(AcquireRequest request, Reason reason) {
        assertThat(request).isDone();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(request::join)
                .satisfies(e -> assertThat(e.getCause())
                        .isInstanceOfSatisfying(
                                BackendException.class,
                                failure -> assertThat(failure.reason()).isEqualTo(reason)));
    }

    private static Batch batch(AcquireRequest... all) {
        Batch batch = new Batch(all[0]);
        for (int i = 1; i < all.length; i++) {
            assertThat(batch.add(all[i])).isTrue();
        }
        return batch;
    }

    private AcquireRequest spend(String storedKey) {
        return requests.spend(storedKey, 1, FIXED);
    }

    /** Returns a request on two keys: one of the policy of the tests, and {@link #other()}. */
    private AcquireRequest both() {
        return requests.spend(List.of(TestBackend.charge("k.a", 1, FIXED), OF_OTHER));
    }

    private AcquireRequest other() {
        return requests.spend(List.of(OF_OTHER));
    }

    private AcquireRequest mayWait(long micros) {
        return requests.spend(List.of(new Charge(new PolicyLimits("queue", List.of(QUEUE)), "k.a", 1, micros)));
    }

    private static List<LimitState> states(AcquireRequest request) {
        return request.join().charges().stream()
                .flatMap(each -> each.states().stream())
                .toList();
    }

    private String key(String storedKey) {
        return key(storedKey, FIXED);
    }

    private String key(String storedKey, Limit limit) {
        return requests.keys().of(TestBackend.charge(storedKey, 1, limit));
    }

    private static Decision decision(AcquireRequest request) {
        return request.join().decision();
    }

    private static Quota quota(AcquireRequest request) {
        return request.join().quotas().get(0);
    }
}
