// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reports of an instance that runs without a container. In a container, beans report the instance. */
public final class ProgramReports implements Plugin {
    private final LiveDecisions decisions = new LiveDecisions(this::operations);
    private final FleetReporter reporter = new FleetReporter(this::operations, decisions::rates);
    private volatile @Nullable HostedWeir hosted;

    /** Creates the plug-in of one limiter with the name of the program in the reports. */
    public ProgramReports(String server) {
        reporter.server(server);
    }

    @Override
    public List<DecisionListener> listeners() {
        return List.of(decisions);
    }

    @Override
    public void start(HostedWeir weir) {
        hosted = weir;
    }

    @Override
    public List<Plugin.Task> tasks() {
        return List.of(reporter);
    }

    private Operations operations() {
        HostedWeir weir = hosted;
        if (weir == null) {
            throw new IllegalStateException("the limiter has not started");
        }
        return weir.plugin(OperationsPlugin.class).operations();
    }
}
