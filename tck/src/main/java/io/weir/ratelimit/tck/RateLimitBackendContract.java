// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.TimeSource;

/**
 * The contract of a backend. The test of a backend extends this class and implements {@link #backend(TimeSource)}. The tests are in the
 * interfaces, one interface per subject.
 *
 * <p>No test sleeps, and each test uses new keys. Tests can therefore share a backend, and state of earlier tests has no effect. The clock
 * of a test can be faster than real time, or stand still. State must therefore not expire by any other clock.
 */
public abstract class RateLimitBackendContract extends BackendFixture
        implements AcquireContract,
                SeveralLimitsContract,
                QuotaContract,
                RefundContract,
                SettleContract,
                ChangedLimitContract,
                ChangedRateContract,
                ChangeOnLiveKeyContract,
                ClockContract,
                RangeContract,
                ConcurrencyContract,
                MaxWaitContract,
                ShadowContract,
                BlockContract,
                PenaltyContract,
                CalendarContract,
                CalendarSettleContract,
                SlotContract,
                ModelContract {}
