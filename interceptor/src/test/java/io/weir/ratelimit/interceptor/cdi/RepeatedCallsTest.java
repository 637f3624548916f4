// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of limited beans that one request repeats. */
class RepeatedCallsTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.sms.limit=3/1m",
        "ratelimit.policies.sms.key=global",
        "ratelimit.policies.login.limit=5/15m",
        "ratelimit.policies.login.key=arg:user",
        "ratelimit.policies.login.count=failure",
        "ratelimit.policies.slow.limit=20/1h",
        "ratelimit.policies.slow.concurrency=1",
        "ratelimit.policies.slow.key=global",
        "ratelimit.policies.work.limit=100/1h",
        "ratelimit.policies.work.key=global",
        "ratelimit.policies.work.count=success",
    };

    /** Tests whether a call reaches its method, whatever the method does. */
    private static boolean isAllowed(Runnable call) {
        try {
            call.run();
            return true;
        } catch (RateLimitExceededException e) {
            return false;
        } catch (CompletionException e) {
            assertThat(e).hasCauseInstanceOf(RateLimitExceededException.class);
            return false;
        } catch (IllegalArgumentException e) {
            return true;
        }
    }

    private static long allowed(int calls, Runnable call) {
        return IntStream.range(0, calls).filter(i -> isAllowed(call)).count();
    }

    private static long remaining(Container container, String policy) {
        return container
                .bean(RateLimiter.class)
                .peek(policy, Identity.GLOBAL)
                .get(0)
                .remaining();
    }

    @Test
    @Tag("field")
    void aBatchOfMessagesPaysForEach() {
        try (Container container = Container.start(POLICIES, Sms.class)) {
            Sms sms = container.bean(Sms.class);
            for (int request = 0; request < 3; request++) {
                long expected = request == 0 ? 3 : 0;
                container.inRequest(
                        CallContext.NONE,
                        () -> assertThat(allowed(50, () -> sms.send("+4420"))).isEqualTo(expected));
            }
        }
    }

    @Test
    @Tag("field")
    void aBatchOfPasswordsHasAsManyFailuresAsTheLimit() {
        try (Container container = Container.start(POLICIES, Login.class)) {
            Login login = container.bean(Login.class);
            container.inRequest(CallContext.NONE, () -> {
                assertThat(allowed(50, () -> login.check("alice", "wrong"))).isEqualTo(5);
                assertThat(isAllowed(() -> login.check("alice", "right"))).isFalse();
                assertThat(allowed(50, () -> login.check("bob", "right"))).isEqualTo(50);
                assertThat(allowed(50, () -> login.check("bob", "wrong"))).isEqualTo(5);
            });
            assertThat(login.tried()).isEqualTo(60);
        }
    }

    @Test
    @Tag("field")
    void parallelCallsOfABatchPayEach() {
        try (Container container = Container.start(POLICIES, Sms.class)) {
            Sms sms = container.bean(Sms.class);
            container.inRequest(CallContext.NONE, () -> {
                List<CompletableFuture<Boolean>> calls = IntStream.range(0, 20)
                        .mapToObj(i -> CompletableFuture.supplyAsync(() -> isAllowed(() -> sms.send("+4420"))))
                        .toList();
                assertThat(calls.stream().filter(CompletableFuture::join).count())
                        .isEqualTo(3);
            });
        }
    }

    @Test
    @Tag("field")
    void aSecondBeanSharesTheChargeAndDoesNotHideRepeatedCalls() {
        try (Container container = Container.start(POLICIES, Sms.class, Notifier.class)) {
            Notifier notifier = container.bean(Notifier.class);
            container.inRequest(CallContext.NONE, () -> notifier.send(1));
            assertThat(remaining(container, "sms")).isEqualTo(2);
            container.inRequest(
                    CallContext.NONE,
                    () -> assertThat(isAllowed(() -> notifier.send(50))).isFalse());
            assertThat(remaining(container, "sms")).isZero();
        }
    }

    @Test
    void asynchronousCallsPayEach() {
        try (Container container = Container.start(POLICIES, Sms.class)) {
            Sms sms = container.bean(Sms.class);
            container.inRequest(
                    CallContext.NONE,
                    () -> assertThat(allowed(
                                    10,
                                    () -> sms.sendLater("+4420")
                                            .toCompletableFuture()
                                            .join()))
                            .isEqualTo(3));
        }
    }

    @Test
    void aRecursiveCallThroughTheBeanPaysAndNeedsNoSecondSlot() {
        try (Container container = Container.start(POLICIES, Tree.class)) {
            Tree tree = container.bean(Tree.class);
            container.inRequest(CallContext.NONE, () -> tree.walk(4));
            assertThat(remaining(container, "slow")).isEqualTo(15);
            container.inRequest(CallContext.NONE, () -> tree.walk(4));
            assertThat(remaining(container, "slow")).isEqualTo(10);
        }
    }

    @Test
    void aFailedCallThatHasSharedAChargePaysTheSamePartAgain() {
        try (Container container = Container.start(POLICIES, Job.class, Work.class)) {
            container.inRequest(
                    CallContext.NONE, () -> container.bean(Job.class).run());
            assertThat(remaining(container, "work")).isEqualTo(97);
        }
    }

    /** Its own call costs 1 permit, and the step that succeeds 3. */
    @ApplicationScoped
    public static class Job {
        @Inject
        Work work;

        @RateLimit("work")
        public void run() {
            assertThat(isAllowed(() -> work.step(false))).isTrue();
            assertThat(isAllowed(() -> work.step(false))).isTrue();
            work.step(true);
        }
    }

    @ApplicationScoped
    public static class Work {
        @RateLimit(value = "work", cost = 3)
        public void step(boolean succeeds) {
            if (!succeeds) {
                throw new IllegalArgumentException("the step failed");
            }
        }
    }

    @ApplicationScoped
    public static class Sms {
        @RateLimit("sms")
        public void send(String to) {}

        @RateLimit("sms")
        public CompletionStage<String> sendLater(String to) {
            return CompletableFuture.completedFuture(to);
        }
    }

    @ApplicationScoped
    public static class Notifier {
        @Inject
        Sms sms;

        @RateLimit("sms")
        public void send(int messages) {
            for (int i = 0; i < messages; i++) {
                sms.send("+4420");
            }
        }
    }

    @ApplicationScoped
    public static class Login {
        private final AtomicInteger tried = new AtomicInteger();

        public int tried() {
            return tried.get();
        }

        @RateLimit("login")
        public void check(@RateLimitKey("user") String user, String password) {
            tried.incrementAndGet();
            if (!password.equals("right")) {
                throw new IllegalArgumentException("wrong password");
            }
        }
    }

    @Dependent
    public static class Tree {
        @Inject
        Provider<Tree> others;

        @RateLimit("slow")
        public void walk(int depth) {
            if (depth > 0) {
                others.get().walk(depth - 1);
            }
        }
    }
}
