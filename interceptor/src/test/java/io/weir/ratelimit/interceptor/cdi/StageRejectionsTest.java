// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A method that returns a stage never throws: each outcome of a decision completes the stage. Only the method itself can throw. */
@Tag("field")
class StageRejectionsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String[] POLICIES = {
        "ratelimit.policies.hello.limit=1/1h",
        "ratelimit.policies.hello.algorithm=fixed-window",
        "ratelimit.policies.hello.key=global",
        "ratelimit.policies.patient.limit=2/1h",
        "ratelimit.policies.patient.algorithm=leaky-bucket",
        "ratelimit.policies.patient.key=global",
        "ratelimit.policies.patient.max-wait=45m",
        "ratelimit.policies.broken.limit=1000/1h",
        "ratelimit.policies.broken.key=broken",
        "ratelimit.policies.named.limit=1000/1h",
        "ratelimit.policies.named.key=arg:name",
    };

    @ApplicationScoped
    @Named("broken")
    public static class Broken implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            throw new IllegalStateException("resolver");
        }
    }

    @ApplicationScoped
    public static class Offers {
        @RateLimit("hello")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedStage("offer");
        }

        @RateLimit("hello")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("offer");
        }

        @RateLimit("patient")
        public CompletionStage<String> patient() {
            return CompletableFuture.completedStage("offer");
        }

        @RateLimit("broken")
        public CompletionStage<String> broken() {
            return CompletableFuture.completedStage("offer");
        }

        @RateLimit("named")
        public CompletionStage<String> named(@RateLimitKey("name") Hostile name) {
            return CompletableFuture.completedStage("offer");
        }

        @RateLimit("hello")
        public CompletionStage<String> throwing() {
            throw new IllegalStateException("method");
        }

        @RateLimit("hello")
        public FutureEndsTest.Own own() {
            return new FutureEndsTest.Own();
        }
    }

    /** An argument without a text. */
    public static class Hostile {
        @Override
        public String toString() {
            throw new IllegalArgumentException("argument");
        }
    }

    private static Throwable failure(Supplier<? extends CompletionStage<String>> call) {
        CompletableFuture<String> ended = call.get().toCompletableFuture();
        Await.until("the stage has ended", TIMEOUT, ended::isDone);
        return ended.handle((value, failure) -> failure).join();
    }

    private static Container start(String... more) {
        String[] inProcess = more.length > 0 ? more : new String[] {"ratelimit.backend=local"};
        String[] lines = Stream.of(POLICIES, inProcess).flatMap(Arrays::stream).toArray(String[]::new);
        return Container.start(lines, Offers.class, Broken.class, Beans.UnavailableBackend.class);
    }

    @Test
    void aRejectionFailsTheStage() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            assertThat(offers.stage().toCompletableFuture()).isCompletedWithValue("offer");
            for (Supplier<CompletionStage<String>> call :
                    List.<Supplier<CompletionStage<String>>>of(offers::stage, offers::future)) {
                assertThat(failure(call)).isInstanceOf(RateLimitExceededException.class);
            }
        }
    }

    @Test
    void aRejectionFailsTheStageUnderAPolicyWithMaxWait() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            offers.patient();
            CompletionStage<String> waiting = offers.patient();
            assertThat(failure(offers::patient)).isInstanceOf(RateLimitExceededException.class);
            assertThat(waiting.toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void anOutageFailsTheStage() {
        try (Container container = start(
                "ratelimit.backend=unavailable",
                "ratelimit.policies.hello.on-failure=closed",
                "ratelimit.policies.patient.on-failure=closed")) {
            Offers offers = container.bean(Offers.class);
            for (Supplier<CompletionStage<String>> call :
                    List.<Supplier<CompletionStage<String>>>of(offers::stage, offers::future, offers::patient)) {
                assertThat(failure(call)).isInstanceOf(RateLimitUnavailableException.class);
            }
        }
    }

    @Test
    void anErrorOfAKeyNeverLeavesTheCall() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            for (Supplier<CompletionStage<String>> call :
                    List.<Supplier<CompletionStage<String>>>of(offers::broken, () -> offers.named(new Hostile()))) {
                Throwable failure = failure(call);
                assertThat(failure == null || failure instanceof RuntimeException)
                        .isTrue();
            }
        }
    }

    @Test
    void aThreadThatIsInterruptedGetsAStage() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            Thread.currentThread().interrupt();
            try {
                offers.stage();
                assertThat(offers.stage().toCompletableFuture()).isCompletedExceptionally();
                offers.patient();
                assertThat(offers.patient().toCompletableFuture()).isNotDone();
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    @Test
    void theEndOfTheApplicationFailsTheStage() {
        Offers offers;
        try (Container container = start()) {
            offers = container.bean(Offers.class);
            offers.stage();
            offers.patient();
            CompletionStage<String> waiting = offers.patient();
            container.application().weir().endWaits();
            assertThat(waiting.toCompletableFuture()).isCompletedExceptionally();
            assertThat(failure(offers::stage)).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void theExceptionOfTheMethodIsItsOwn() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            assertThatThrownBy(offers::throwing).isInstanceOf(IllegalStateException.class);
        }
    }

    /** No object of the type could report the rejection. */
    @Test
    void aMethodWithAnotherTypeThrows() {
        try (Container container = start()) {
            Offers offers = container.bean(Offers.class);
            offers.own();
            assertThatThrownBy(offers::own).isInstanceOf(RateLimitExceededException.class);
        }
    }
}
