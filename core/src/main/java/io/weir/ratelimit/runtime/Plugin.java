// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.PolicyCheck;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.spi.DecisionListener;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * An optional part of one {@link HostedWeir}. {@link java.util.ServiceLoader} finds the plug-ins of the class path on each host. A plug-in can also
 * be an object of the application. The methods are called in their order here, on the thread of the deployment.
 */
public interface Plugin extends PolicyCheck {
    /**
     * Returns the properties of the plug-in, which no other part reads: the full names, which begin with {@code ratelimit.}, and the families
     * such as {@code ratelimit.clients.<c>.policy}.
     */
    default Set<String> properties() {
        return Set.of();
    }

    /** Returns the configuration with the layer of the plug-in over it. It is called at the start and at each reload. */
    default ConfigProperties over(ConfigProperties config) {
        return config;
    }

    /** Reads and checks the configuration. The problems are reported with all others. */
    default void prepare(Preparation preparation) {}

    /**
     * Returns the limits of each endpoint of the plug-in, such as calls of REST clients. Policies can be under these limits, like under
     * those of a method.
     */
    default List<MethodLimits> endpoints() {
        return List.of();
    }

    /** Checks a policy. It is also called at each reload and for runtime changes. */
    @Override
    default void check(Policy policy, ConfigProperties config, Problems problems) {}

    /** Returns the listeners of decisions. */
    default List<DecisionListener> listeners() {
        return List.of();
    }

    /** Starts the plug-in before the first request. The configuration has no problem, and the backend is started. */
    default void start(HostedWeir weir) {}

    /** Returns the tasks that are repeated while the application runs, if {@code ratelimit.enabled} is true. */
    default List<Task> tasks() {
        return List.of();
    }

    /** Checks the first policies against the started application, and returns the warnings. */
    default List<MessageCatalog.Message> warnings(PolicySnapshot first, ApplicationView view) {
        return List.of();
    }

    /**
     * A task of another module that the application repeats while it runs. A CDI bean of this type is found at deployment. Its first run is one
     * interval after the start, on a thread of the container.
     */
    interface Task extends Runnable {
        /** Returns the time between now, which is the start or the end of a run, and the next run: 1 ms or more. */
        Duration interval();
    }
}
