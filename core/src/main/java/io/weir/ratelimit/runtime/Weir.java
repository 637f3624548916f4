// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.RateLimiter;

/** The limiter of a program in plain Java. It runs until it is closed. */
public final class Weir implements AutoCloseable {
    private final HostedWeir hosted;

    Weir(HostedWeir hosted) {
        this.hosted = hosted;
    }

    /**
     * Returns a builder.
     *
     * @return a builder without properties
     */
    public static WeirBuilder builder() {
        return new WeirBuilder();
    }

    /**
     * Returns the limiter for application code.
     *
     * @return the limiter
     */
    public RateLimiter limiter() {
        return hosted.limiter();
    }

    /**
     * Returns a plug-in of this limiter.
     *
     * @param type the class of the plug-in
     * @param <T> the class of the plug-in
     * @return the plug-in
     * @throws IllegalStateException if the limiter does not have it
     */
    public <T extends Plugin> T plugin(Class<T> type) {
        return hosted.plugin(type);
    }

    /** Returns what a host sees of this limiter. */
    HostedWeir hosted() {
        return hosted;
    }

    /**
     * Ends the waits of calls, the repeated tasks and the look-ups, and disconnects from the backend. A thread that waits in {@link
     * RateLimiter#acquire(String, io.weir.ratelimit.Identity)} throws a {@link java.util.concurrent.CancellationException}.
     */
    @Override
    public void close() {
        hosted.close();
    }
}
