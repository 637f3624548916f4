// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.ValueLayer;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The environment of the engine of a test: a virtual clock, backends that a test resets and fails, and no threads of its own. Random
 * numbers are 0, so the time of a retry has no random addition.
 */
final class TestEnvironment implements EngineEnvironment {
    private final TestClock clock;
    private final Optional<String> redis;
    private final boolean deployed;
    private final BackendFaults faults;
    private final List<TestBackend> backends = new CopyOnWriteArrayList<>();
    private volatile @Nullable TestBackend backend;
    private volatile Runnable endOutage = () -> {};
    private volatile Runnable forgetShares = () -> {};
    private volatile Runnable end = () -> {};
    private final RecordedEvents events = new RecordedEvents();
    private ChangedAttributes changes = ChangedAttributes.NONE;

    /** The limiter with these changes; null without any. */
    private @Nullable HostedWeir changed;

    TestEnvironment(Instant now) {
        this(now, Optional.empty());
    }

    /** Creates the environment of a test kit in a deployment. */
    static TestEnvironment deployed(Instant now) {
        return new TestEnvironment(now, Optional.empty(), true);
    }

    /**
     * Creates an environment.
     *
     * @param redis the address of the Redis that decides by its own clock; empty for the backend in process, or for one that the
     *     application provides
     */
    TestEnvironment(Instant now, Optional<String> redis) {
        this(now, redis, false);
    }

    private TestEnvironment(Instant now, Optional<String> redis, boolean deployed) {
        this.deployed = deployed;
        this.clock = redis.isPresent() ? new RealClock() : new VirtualClock(now);
        this.redis = redis;
        this.faults = new BackendFaults(clock);
    }

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public Sleeper tasks() {
        return clock.tasks();
    }

    @Override
    public IntUnaryOperator random() {
        return bound -> 0;
    }

    @Override
    public Supplier<Executor> executor(Supplier<Executor> container) {
        return () -> Runnable::run;
    }

    @Override
    public Supplier<Executor> lookUps(Supplier<Executor> threads) {
        return () -> Runnable::run;
    }

    @Override
    public boolean isControlledByClients() {
        return deployed;
    }

    @Override
    public void resets(Runnable outage, Runnable shares) {
        endOutage = outage;
        forgetShares = shares;
    }

    /** Returns the events of the limiter. */
    RecordedEvents events() {
        return events;
    }

    /** Changes an attribute of a policy, unless that causes a problem. */
    synchronized void change(HostedWeir started, String policy, String attribute, String value) {
        if (!started.reload().names().contains(policy)) {
            throw new IllegalArgumentException("there is no policy " + policy);
        }
        ChangedAttributes next = changes.with(policy, attribute, value);
        ValueLayer.Findings found = started.reload().check(next, List.of());
        if (!found.all().isEmpty()) {
            throw new IllegalArgumentException(found.all().stream()
                    .map(ConfigurationProblem::toString)
                    .collect(Collectors.joining(System.lineSeparator())));
        }
        started.reload().apply(next);
        changes = next;
        changed = started;
    }

    private synchronized void endChanges() {
        HostedWeir started = changed;
        if (started != null) {
            changes = ChangedAttributes.NONE;
            changed = null;
            started.reload().apply(changes);
        }
    }

    @Override
    public boolean replaces(String backend) {
        return backend.equals("redisson");
    }

    @Override
    public RateLimitBackend local(int maxKeys) {
        return tracked(new TestBackend(() -> EngineEnvironment.local(maxKeys, clock), new BackendFaults(clock)));
    }

    @Override
    public RateLimitBackend backend(RateLimitBackend selected, Duration deadline) {
        faults.deadline(deadline);
        TestBackend wrapped = tracked(redis.map(address -> new TestBackend(onRedis(address, deadline), faults))
                .orElseGet(() -> TestBackend.around(selected, faults)));
        backend = wrapped;
        return wrapped;
    }

    private Supplier<RateLimitBackend> onRedis(String address, Duration deadline) {
        RedisBackends started = new RedisBackends(address, deadline);
        end = started::stop;
        return started;
    }

    /** Disconnects from Redis. */
    void stop() {
        end.run();
    }

    private TestBackend tracked(TestBackend created) {
        backends.add(created);
        return created;
    }

    /** Returns the faults of the backend. */
    BackendFaults faults() {
        return faults;
    }

    /** Returns the backend that the engine calls. */
    TestBackend backend() {
        return Objects.requireNonNull(backend, "the engine has not started");
    }

    /** Deletes the state of all keys. */
    void reset() {
        backends.forEach(TestBackend::reset);
        forgetShares.run();
    }

    /** Restores the first state. */
    void resetAll() {
        faults.reset();
        // Before the clock, which moves on by a day: the outage was not that long.
        endOutage.run();
        endChanges();
        clock.reset();
        reset();
        events.clear();
    }
}
