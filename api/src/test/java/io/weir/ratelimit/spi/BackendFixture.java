// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The backend of a contract and its clock. */
public abstract class BackendFixture implements ContractFixture {
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

    /** What the tests see of the backend. */
    RateLimitBackend decorated(RateLimitBackend backend) {
        return backend;
    }

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
        return decorated(current);
    }

    @Override
    public final ManualTime time() {
        return time;
    }
}
