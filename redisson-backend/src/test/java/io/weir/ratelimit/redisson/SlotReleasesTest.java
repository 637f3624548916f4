// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ConcurrencyState;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.SlotCodec.Slot;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;
import org.redisson.config.Config;
import org.redisson.misc.CompletableFutureWrapper;

/** Releases of slots on a cluster of which a part does not answer, with replies that the test composes. */
class SlotReleasesTest {
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    /** The bytes of a reply of {@code release.lua} before those of the slots. */
    private static final int HEAD_BYTES = 8;

    private final List<List<?>> sent = new ArrayList<>();
    private Function<List<?>, CompletableFuture<byte[]>> replies = SlotReleasesTest::held;
    private final RedisClient client = new RedisClient(this::redisson, false, "test", DEADLINE);
    private final SlotSender sender = new SlotSender(
            new ScriptSender(client, ScriptSender.REDIS_CLOCK, RedisClock.ofProcess()), RedisKeys.of("test"), DEADLINE);
    private final ManualTimer timer = new ManualTimer();
    private final UnclaimedSlots unclaimed = new UnclaimedSlots(sender, Breaker.disabled(), timer);

    /** Returns a client of a cluster. Its scripts have the replies of the test. */
    private RedissonClient redisson() {
        Config config = new Config();
        config.useClusterServers();
        RScript scripts = proxy(RScript.class, (method, arguments) -> switch (method) {
            case "scriptLoad" -> "loaded";
            case "evalSha" -> new FakeReply().allowed(1).untouched().bytes();
            default -> {
                List<?> keys = (List<?>) arguments.get(4);
                sent.add(keys);
                yield new CompletableFutureWrapper<>(replies.apply(keys));
            }
        });
        return proxy(RedissonClient.class, (method, arguments) -> method.equals("getConfig") ? config : scripts);
    }

    private interface Call {
        Object reply(String method, List<Object> arguments);
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) ->
                        call.reply(method.getName(), arguments == null ? List.of() : Arrays.asList(arguments))));
    }

    private static CompletableFuture<byte[]> held(List<?> keys) {
        return reply(keys, 1);
    }

    private static CompletableFuture<byte[]> reply(List<?> keys, int ofSlot) {
        byte[] reply = new byte[HEAD_BYTES + keys.size()];
        Arrays.fill(reply, HEAD_BYTES, reply.length, (byte) ofSlot);
        return CompletableFuture.completedFuture(reply);
    }

    private static CompletableFuture<byte[]> timedOut() {
        return CompletableFuture.failedFuture(new RedisTimeoutException("no reply"));
    }

    private static Slot slot(String key, Duration timeout) {
        return new Slot(key, 1, TimeUnit.NANOSECONDS.toMicros(timeout.toNanos()));
    }

    private CompletableFuture<List<Boolean>> release(String key) {
        return sender.releaseSlots(List.of(slot(key, Duration.ofMinutes(1))));
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client.awaitFirstAttempt(System.nanoTime() + Duration.ofSeconds(30).toNanos());
        assertThat(client.isReady()).isTrue();
    }

    @AfterEach
    void disconnect() {
        client.close();
    }

    @Test
    void aMasterThatDoesNotAnswerHoldsUpNoReleaseOnOthers() {
        replies = keys -> keys.get(0).toString().startsWith("{a}") ? new CompletableFuture<>() : held(keys);
        for (int key = 0; key < 300; key++) {
            assertThat(release("{a}:" + key)).isNotDone();
        }
        assertThat(sent).as("sent calls").hasSize(2);
        for (int key = 0; key < 1_000; key++) {
            assertThat(release("{b}:" + key)).isCompletedWithValue(List.of(true));
        }
    }

    @Test
    void oneReleaseOfSlotsOnSeveralMastersCompletesOnceAllHaveAnswered() {
        CompletableFuture<byte[]> late = new CompletableFuture<>();
        replies = keys -> keys.get(0).toString().startsWith("{a}") ? late : held(keys);
        CompletableFuture<List<Boolean>> released =
                sender.releaseSlots(List.of(slot("{a}:1", DEADLINE), slot("{b}:1", DEADLINE), slot("{a}:2", DEADLINE)));
        assertThat(sent).hasSize(2);
        assertThat(released).isNotDone();
        late.complete(reply(List.of("{a}:1", "{a}:2"), 0).join());
        assertThat(released).isCompletedWithValue(List.of(false, true, false));
    }

    @Test
    void aSlotThatNobodyHasIsReleasedUntilRedisHasConfirmedThreeTimes() {
        replies = keys -> reply(keys, 0);
        unclaimed.add(List.of(slot("{a}:1", DEADLINE)));
        runAll();
        assertThat(sent).hasSize(UnclaimedSlots.CONFIRMATIONS);
    }

    @Test
    void aSlotWhoseReleasesFailForLongerThanItLastsIsGivenUp() {
        replies = keys -> timedOut();
        unclaimed.add(List.of(slot("{a}:1", Duration.ofSeconds(90))));
        runAll();
        assertThat(sent).hasSize(91);
    }

    @Test
    void aSlotOfAShortTimeoutIsReleasedForAMinute() {
        replies = keys -> timedOut();
        unclaimed.add(List.of(slot("{a}:1", Duration.ofSeconds(5))));
        runAll();
        assertThat(sent).hasSize(61);
        replies = SlotReleasesTest::held;
        unclaimed.add(List.of(slot("{a}:1", Duration.ofSeconds(5))));
        runAll();
        assertThat(sent).as("a slot is added again").hasSize(62);
    }

    /** Runs the timer until nothing is due, for a thousand seconds at most. */
    private void runAll() {
        for (int second = 0; second < 1_000 && timer.waiting() > 0; second++) {
            timer.run();
        }
        assertThat(timer.waiting()).isZero();
    }

    @ParameterizedTest
    @MethodSource("unexpectedReplies")
    void failWithAnUnexpectedReplyAndAreSentAfterIt(Object unexpected) {
        replies = keys -> completed(unexpected);
        for (int call = 0; call < 3; call++) {
            assertThat(release("{a}")).isCompletedExceptionally();
        }
        replies = SlotReleasesTest::held;
        assertThat(release("{a}")).isCompletedWithValue(List.of(true));
    }

    @ParameterizedTest
    @MethodSource("unexpectedReplies")
    void renewalsWithAnUnexpectedReplyFail(Object unexpected) {
        PolicyLimits policy = new PolicyLimits("p", List.of(Limit.concurrency(1, Duration.ofSeconds(6))));
        Charge charge = new Charge(policy, "k", 1);
        ChargeStates held = new ChargeStates(charge, List.of(ConcurrencyState.summary(1, 0, 1, 1)));
        replies = keys -> completed(unexpected);
        assertThat(sender.renew(List.of(held, held))).isCompletedExceptionally();
    }

    static Stream<Object> unexpectedReplies() {
        return Stream.of(new byte[HEAD_BYTES], 1L);
    }

    /** Returns a reply of any type, as a client does for the reply to another command. */
    @SuppressWarnings("unchecked")
    private static <T> CompletableFuture<T> completed(Object reply) {
        return (CompletableFuture<T>) CompletableFuture.completedFuture(reply);
    }
}
