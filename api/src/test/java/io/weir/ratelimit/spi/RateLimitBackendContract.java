// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every backend must do. A backend's test extends this class and answers {@link #backend(TimeSource)}; the tests are
 * in the interfaces, one per subject.
 *
 * <p>No test sleeps, and each uses identities of its own, so that a backend may be shared and may keep what earlier
 * tests left in it. The time given may run ahead of real time or stand still for any while: nothing may expire by another
 * clock.
 */
public abstract class RateLimitBackendContract
        implements AdmissionContract,
                SeveralLimitsContract,
                RefusalContract,
                QuotaContract,
                GiveBackContract,
                ChangedLimitContract,
                ChangeOnLiveKeyContract,
                ClockContract,
                RangeContract,
                ConcurrencyContract,
                MaxWaitContract,
                ShadowContract,
                ModelContract {

    private final ManualTime time = new ManualTime();
    private RateLimitBackend current;

    /**
     * The backend to test, fresh or shared with other tests.
     *
     * @param time where it must take the time from, for as long as the test runs
     * @return the backend, ready for calls
     */
    protected abstract RateLimitBackend backend(TimeSource time);

    /**
     * Called after each test.
     *
     * @param used what {@link #backend(TimeSource)} answered
     */
    protected void clean(RateLimitBackend used) {}

    @BeforeEach
    protected final void openBackend() {
        current = backend(time);
    }

    @AfterEach
    protected final void cleanBackend() {
        clean(current);
    }

    @Override
    public final RateLimitBackend backend() {
        return current;
    }

    @Override
    public final ManualTime time() {
        return time;
    }
}
