// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.CalendarCodec;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calendar limits of several instances on a real Redis, its clock, and the bytes that they store. */
@Tag("redis")
class CalendarLimitsTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Limit MONTHLY = Limit.of(5, new CalendarPeriod(Unit.MONTH, ZoneId.of("Europe/Berlin"), 1));

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    /** Sends scripts whose keys expire by the clock of a test: a key that ends in a microsecond would be missing in the next call. */
    private final RedisClient client =
            new RedisClient(() -> ManualExpiryClient.of(fixture.client()), false, fixture.namespace(), DEADLINE);

    private final AcquireRequests requests = AcquireRequests.in(fixture.namespace());

    @BeforeEach
    void connect() {
        fixture.ready();
        Await.until("the client is ready", DEADLINE, client::isReady);
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        client.close();
        fixture.close();
        redis.close();
    }

    /** Sends a call of an instance at an instant of Redis's clock. */
    private Decision acquire(ScriptSender instance, String storedKey, Limit... limits) {
        AcquireRequest request = requests.spend(storedKey, 1, limits);
        Batch batch = new Batch(request);
        batch.complete(instance.send(batch).join());
        return request.join().decision();
    }

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, instant);
    }

    @Test
    void instancesWithWrongClocksChangeThePeriodTogetherByTheClockOfRedis() {
        AtomicLong redisMicros = new AtomicLong();
        Instant end = Instant.parse("2026-11-30T23:00:00Z");
        List<ScriptSender> instances = new ArrayList<>();
        for (Duration error : List.of(
                Duration.ofDays(-20_000),
                Duration.ofDays(-40),
                Duration.ofHours(-2),
                Duration.ZERO,
                Duration.ofMinutes(7),
                Duration.ofDays(400))) {
            instances.add(new ScriptSender(
                    client,
                    redisMicros::get,
                    new RedisClock(() -> 0, () -> end.plus(error).toEpochMilli())));
        }
        for (long month = 0; month < 3; month++) {
            Instant monthEnd =
                    end.atZone(ZoneId.of("Europe/Berlin")).plusMonths(month).toInstant();
            redisMicros.set(micros(monthEnd) - 1);
            int allowed = 0;
            for (ScriptSender instance : instances) {
                Decision decision = acquire(instance, "k.shared", MONTHLY);
                allowed += decision.allowed() ? 1 : 0;
                assertThat(decision.quotas().get(0).periodEnd().orElseThrow().toInstant())
                        .isEqualTo(monthEnd);
                assertThat(Micros.nextPermitAfter(decision.quotas().get(0))).isEqualTo(1);
            }
            assertThat(allowed).isEqualTo(5);
            redisMicros.incrementAndGet();
            for (ScriptSender instance : instances) {
                assertThat(acquire(instance, "k." + month + instance.hashCode() + instances.indexOf(instance), MONTHLY)
                                .allowed())
                        .isTrue();
            }
            assertThat(acquire(instances.get((int) month), "k.shared", MONTHLY).allowed())
                    .isTrue();
            redis.drop(fixture.pattern());
        }
    }

    @Test
    void aCallWithOtherPeriodsWritesNothing() {
        AcquireRequest request = requests.spend("k.outside", 1, MONTHLY);
        Batch batch = new Batch(request);
        long november = micros(Instant.parse("2026-11-24T00:00:00Z"));
        long march = micros(Instant.parse("2027-03-24T00:00:00Z"));
        for (long expected : new long[] {november, march, 0}) {
            byte[] reply = (byte[]) redis.call(
                    "EVAL",
                    Script.ACQUIRE.text(),
                    1,
                    batch.keys().get(0),
                    AcquireCodec.encode(batch, micros(Instant.parse("2027-01-24T00:00:00Z")), expected));
            assertThat(CalendarCodec.isOutsidePeriods(reply)).isTrue();
            assertThat(redis.keys(fixture.pattern())).isEmpty();
        }
    }

    @Test
    void aClockThatJumpsWithEachCallIsAFailure() {
        AtomicLong calls = new AtomicLong();
        ScriptSender sender = new ScriptSender(
                client,
                () -> micros(Instant.parse(
                        calls.incrementAndGet() % 2 == 0 ? "2027-01-24T00:00:00Z" : "2029-01-24T00:00:00Z")),
                RedisClock.ofProcess());

        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> acquire(sender, "k.jumps", MONTHLY))
                .havingCause()
                .isInstanceOfSatisfying(
                        BackendException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BACKEND_ERROR));
        assertThat(calls).hasValue(3);
    }

    @Test
    void usesTheClockOfRedisAndExpiresAtTheEndOfThePeriod() {
        Limit second = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofSeconds(1));
        List<Quota> quotas = fixture.acquire("k.ttl", 1, second, MONTHLY).quotas();
        long ttl = ((Number) redis.call("PTTL", fixture.key("k.ttl"))).longValue();

        assertThat(quotas).extracting(Quota::name).containsExactly("api-1s", "api-month");
        assertThat(quotas.get(1).periodEnd().orElseThrow())
                .isAfter(Instant.now().atZone(ZoneId.of("UTC")));
        assertThat(ttl).isBetween(1L, Micros.resetAfter(quotas.get(1)) / 1_000 + 1);
        assertThat(ttl).isGreaterThan(Micros.resetAfter(quotas.get(1)) / 1_000 - 60_000);
        assertThat(fixture.remaining("k.ttl", MONTHLY)).isEqualTo(4);
    }

    @Test
    void storesTheDocumentedSection() {
        AtomicLong redisMicros = new AtomicLong(micros(Instant.parse("2026-11-10T00:00:00Z")));
        ScriptSender sender = new ScriptSender(client, redisMicros::get, RedisClock.ofProcess());
        acquire(sender, "k.stored", MONTHLY);
        redisMicros.set(micros(Instant.parse("2026-11-24T00:00:00Z")));
        acquire(sender, "k.stored", MONTHLY);

        StoredSection section =
                StoredSection.of(redis.bytes(fixture.key("k.stored"))).get(0);

        assertThat(section.name()).isEqualTo("c2678400000");
        ByteBuffer in = ByteBuffer.wrap(section.state());
        assertThat(StoredSection.number(in, 7)).isEqualTo(micros(Instant.parse("2026-11-30T23:00:00Z")));
        assertThat(StoredSection.number(in, 2)).isEqualTo(20);
        assertThat(StoredSection.number(in, 7)).isEqualTo(micros(Instant.parse("2026-11-10T00:00:00Z")));
        assertThat(StoredSection.number(in, 7)).isEqualTo(micros(Instant.parse("2026-11-24T00:00:00Z")));
        assertThat(StoredSection.number(in, 6)).isEqualTo(2);
    }

    @Test
    void aSectionThatIsNoStateIsForeign() {
        ByteBuffer value = ByteBuffer.allocate(16);
        value.put((byte) 'c').put((byte) 0).putInt((int) 2_678_400_000L);
        value.put(new byte[7]).putShort((short) 1).put((byte) 1);
        String key = fixture.key("k.foreign");
        redis.call("SET", key, value.array());

        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> fixture.acquire("k.foreign", 1, MONTHLY))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.FOREIGN_STATE));
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(
                        () -> new TestedBackend(fixture.backend()).refund(TestBackend.charge("k.foreign", 1, MONTHLY)))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.FOREIGN_STATE));
        assertThat(redis.bytes(key)).isEqualTo(value.array());
    }

    @Test
    void aBatchIsNotSentAgainAfterItsDeadline() {
        Instant now = Instant.parse("2026-11-27T12:00:00Z");
        ScriptSender sender = new ScriptSender(client, () -> micros(now), new RedisClock(() -> 0, () -> 0));
        AcquireRequest late = requests.spend(TestBackend.charge("k.late", 1, MONTHLY), System.nanoTime() - 1);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> sender.send(new Batch(late)).join())
                .satisfies(e ->
                        assertThat(((BackendException) e.getCause()).reason()).isEqualTo(Reason.TIMEOUT));
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }

    @Test
    void anInstanceWithoutTheLimitKeepsItsSection() {
        Limit second = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofSeconds(1));
        fixture.acquire("k.kept", 2, MONTHLY);
        fixture.acquire("k.kept", 1, second);

        assertThat(fixture.remaining("k.kept", MONTHLY)).isEqualTo(3);
    }
}
