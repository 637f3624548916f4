// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.TestCall;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotHolderTest {
    private final List<String> released = new ArrayList<>();
    private final SlotHolder request = new RequestState(TestCall.byPrincipal("alice"));

    private boolean hold(String slots) {
        return request.holdSlots(() -> released.add(slots));
    }

    @Test
    void holdsItsSlotsFromTheFirstOneToItsEnd() {
        assertThat(request.holdsSlots()).isFalse();
        assertThat(hold("slots")).isTrue();
        assertThat(request.holdsSlots()).isTrue();
        request.end();
        assertThat(released).containsExactly("slots");
        assertThat(request.holdsSlots()).isFalse();
    }

    @Test
    void releasesItsSlotsOnce() {
        hold("slots");
        request.end();
        request.end();
        assertThat(released).containsExactly("slots");
    }

    @Test
    void aLaterReleaserStandsForAllSlots() {
        hold("first");
        hold("first and second");
        request.end();
        assertThat(released).containsExactly("first and second");
    }

    @Test
    void takesNoSlotsAfterItsEnd() {
        request.end();
        assertThat(hold("late")).isFalse();
        assertThat(request.holdsSlots()).isFalse();
        assertThat(released).as("the caller releases them").isEmpty();
    }

    @Test
    void slotsThatCallsShareAreReleasedAtTheEndOfTheLast() {
        hold("slots");
        assertThat(request.shareSlots()).isTrue();
        assertThat(request.shareSlots()).isTrue();
        request.endShare();
        request.end();
        assertThat(released).as("one call still runs").isEmpty();
        assertThat(hold("late")).isFalse();
        request.endShare();
        assertThat(released).containsExactly("slots");
    }

    @Test
    void callsThatEndBeforeTheRequestReleaseNothing() {
        hold("slots");
        request.shareSlots();
        request.endShare();
        assertThat(released).isEmpty();
        request.end();
        assertThat(released).containsExactly("slots");
    }

    @Test
    void aRequestWithoutSlotsSharesNone() {
        assertThat(request.shareSlots()).isFalse();
        hold("slots");
        request.end();
        assertThat(request.shareSlots()).isFalse();
    }

    @Test
    void keepsItsFirstOutcomeWhileItHoldsSlots() {
        assertThat(request.endsWith(true)).as("without slots").isFalse();
        assertThat(request.hasSucceeded()).isFalse();
        hold("slots");
        assertThat(request.endsWith(true)).isTrue();
        assertThat(request.endsWith(false)).isTrue();
        assertThat(request.hasSucceeded()).isTrue();
        request.end();
        assertThat(request.endsWith(true)).as("after its end").isFalse();
    }

    @Test
    void hasFailedWithoutAnOutcome() {
        hold("slots");
        assertThat(request.hasSucceeded()).isFalse();
        request.endsWith(false);
        request.endsWith(true);
        assertThat(request.hasSucceeded()).isFalse();
    }

    @Test
    void knowsWhetherAnEventOfTheResponseEndsIt() {
        assertThat(request.isEndAwaited()).isFalse();
        request.awaitEnd();
        assertThat(request.isEndAwaited()).isTrue();
    }
}
