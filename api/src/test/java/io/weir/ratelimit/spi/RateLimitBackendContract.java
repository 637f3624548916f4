// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * What every backend must do. A backend's test extends this class and answers {@link #backend(TimeSource)}; the tests are
 * in the interfaces, one per subject.
 *
 * <p>No test sleeps, and each uses identities of its own, so that a backend may be shared and may keep what earlier
 * tests left in it. The time given may run ahead of real time or stand still for any while: nothing may expire by another
 * clock.
 */
public abstract class RateLimitBackendContract extends BackendFixture
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
                ModelContract {}
