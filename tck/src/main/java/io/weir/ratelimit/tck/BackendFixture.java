// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The backend under test and its clock.
 *
 * <p>A test that needs an optional part which the backend does not have is aborted, and reports the part.
 */
@ExtendWith(TestedBackend.InThreads.class)
public abstract class BackendFixture implements ContractFixture {
    private final ManualTime time = new ManualTime();
    private RateLimitBackend current;

    /**
     * Returns the backend under test, either new or shared with other tests. Called before each test.
     *
     * @param time the clock of the backend during the test. It replaces every other clock, also that of a server: a backend whose server
     *     has a clock passes this time with each operation of the test
     * @return the backend, started and ready
     */
    protected abstract RateLimitBackend backend(TimeSource time);

    /**
     * Releases the backend. Called after each test.
     *
     * @param used the result of {@link #backend(TimeSource)}
     */
    protected void clean(RateLimitBackend used) {}

    /** Returns the backend that the tests call. */
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
    public final TestedBackend backend() {
        return new TestedBackend(decorated(current));
    }

    @Override
    public final ManualTime time() {
        return time;
    }
}
