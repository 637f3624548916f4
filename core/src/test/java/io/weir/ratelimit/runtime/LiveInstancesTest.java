// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LiveInstancesTest {
    private final List<String> recorded = new ArrayList<>();
    private CompletableFuture<Integer> answer = new CompletableFuture<>();
    private final LiveInstances live = live();

    private LiveInstances live() {
        return new LiveInstances(instance -> {
            recorded.add(instance);
            return answer;
        });
    }

    private int after(int... answers) {
        for (int each : answers) {
            answer = CompletableFuture.completedFuture(each);
            live.run();
        }
        return live.getAsInt();
    }

    private int afterFailures(Reason... reasons) {
        for (Reason reason : reasons) {
            answer = CompletableFuture.failedFuture(new BackendException(reason, "NOPERM", null));
            live.run();
        }
        return live.getAsInt();
    }

    @Test
    void theNumberIsOneBeforeTheFirstAnswer() {
        assertThat(live.getAsInt()).isOne();
        live.run();
        assertThat(live.getAsInt()).isOne();
        assertThat(live.interval()).as("soon after the start").isEqualTo(Duration.ofSeconds(1));
        assertThat(afterFailures(Reason.NOT_READY, Reason.TIMEOUT)).isOne();
        assertThat(live.interval()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void theNumberIsTheAnswer() {
        assertThat(after(3)).isEqualTo(3);
        assertThat(live.interval()).isEqualTo(Duration.ofSeconds(5));
        assertThat(after(3, 20)).as("a greater number applies at once").isEqualTo(20);
    }

    @Test
    void anInstanceHasOneNameOfItsOwn() {
        after(1, 1);
        live().run();
        assertThat(recorded).hasSize(3).allMatch(name -> name.matches("[0-9a-f]{16}"));
        assertThat(recorded.get(1)).isEqualTo(recorded.get(0)).isNotEqualTo(recorded.get(2));
    }

    @Test
    void theNumberFallsToTheGreatestOfSixSmallerAnswers() {
        assertThat(after(20, 1, 4, 2, 1, 2)).isEqualTo(20);
        assertThat(after(2)).isEqualTo(4);
        assertThat(after(2, 2, 2, 2, 2)).isEqualTo(4);
        assertThat(after(2)).isEqualTo(2);
    }

    @Test
    void anAnswerThatIsNotSmallerKeepsTheNumber() {
        assertThat(after(20, 1, 1, 1, 1, 1, 20, 1, 1, 1, 1, 1)).isEqualTo(20);
        assertThat(after(1)).isEqualTo(1);
    }

    @Test
    void aFailureKeepsTheNumber() {
        after(20);
        assertThat(afterFailures(Reason.BREAKER_OPEN, Reason.TIMEOUT, Reason.CONNECTION, Reason.BACKEND_ERROR))
                .isEqualTo(20);
        assertThat(after(1, 1, 1)).isEqualTo(20);
        assertThat(afterFailures(Reason.TIMEOUT, Reason.TIMEOUT, Reason.TIMEOUT))
                .as("a failure is no answer")
                .isEqualTo(20);
        assertThat(after(1, 1)).isEqualTo(20);
        assertThat(after(1)).isEqualTo(1);
    }

    @Test
    void aStoreThatDoesNotAnswerGetsOneCall() {
        live.run();
        live.run();
        assertThat(recorded).hasSize(1);
        answer.complete(7);
        assertThat(live.getAsInt()).isEqualTo(7);
        live.run();
        assertThat(recorded).hasSize(2);
    }

    @Test
    void anErrorOfTheStoreIsLoggedOnceUntilItAnswers() {
        try (LogCapture log = new LogCapture()) {
            afterFailures(Reason.TIMEOUT, Reason.BREAKER_OPEN, Reason.CONNECTION, Reason.NOT_READY);
            assertThat(log.lines()).isEmpty();
            after(3);
            afterFailures(Reason.BACKEND_ERROR, Reason.BACKEND_ERROR);
            assertThat(log.lines())
                    .containsExactly("WARNING WEIR-010 The presence of this instance was not stored: NOPERM. While the"
                            + " backend is unavailable, on-failure=local and on-failure=sample use 3 as the number of"
                            + " instances. Remove the cause, or set ratelimit.instances.");
            after(3);
            afterFailures(Reason.BACKEND_ERROR);
            assertThat(log.lines()).hasSize(2);
        }
    }
}
