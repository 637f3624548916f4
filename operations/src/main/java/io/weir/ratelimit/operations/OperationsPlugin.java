// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.operations.changes.ChangeCodec;
import io.weir.ratelimit.operations.changes.DeploymentChanges;
import io.weir.ratelimit.operations.changes.InstanceChanges;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.runtime.Preparation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The plug-in for operators: runtime changes, and what the console shows of an instance. */
public final class OperationsPlugin implements Plugin {
    /** The interval at which the runtime changes are read. A change applies everywhere within a second. */
    private static final Duration CHANGES_INTERVAL = Duration.ofMillis(400);

    private ConsoleSettings console = ConsoleSettings.CLOSED;
    private ChangeSettings changes = ChangeSettings.NONE;
    private Optional<InstanceChanges> running = Optional.empty();
    private volatile @Nullable Operations operations;

    @Override
    public Set<String> properties() {
        return ConfigKeys.ofArtifact("weir-operations");
    }

    @Override
    public void prepare(Preparation preparation) {
        ConfigReader reader = new ConfigReader(preparation.config(), preparation.problems());
        console = ConsoleSettings.read(reader);
        changes = ChangeSettings.read(reader);
    }

    /** Reads the runtime changes before the first request. */
    @Override
    public void start(HostedWeir weir) {
        if (weir.settings().enabled() && changes.enabled()) {
            running = Optional.of(started(weir));
        }
        operations = new InstanceOperations(
                console,
                weir,
                new KnownPolicies(weir, weir.methods()),
                running.map(RuntimeChanges.class::cast),
                changes.role().filter(role -> changes.enabled()));
        warnings(console, changes).forEach(warning -> warning.log());
    }

    private static InstanceChanges started(HostedWeir weir) {
        ChangeCodec codec = new ChangeCodec(
                new ConfigReader(weir.configuration(), new Problems()).value(ConfigKeys.NAMESPACE),
                weir.settings().keySecret());
        return new DeploymentChanges(weir).start(codec);
    }

    /** Returns the warnings about settings by which nobody or everyone can use the console. */
    static List<MessageCatalog.Message> warnings(ConsoleSettings console, ChangeSettings changes) {
        if (!console.enabled()) {
            return changes.enabled() ? List.of(MESSAGES.message("WEIR-453.console")) : List.of();
        }
        if (console.open()) {
            return List.of(MESSAGES.message("WEIR-013"));
        }
        return console.role().isEmpty() ? List.of(MESSAGES.message("WEIR-012")) : List.of();
    }

    @Override
    public List<Plugin.Task> tasks() {
        return running.<Plugin.Task>map(ReadChanges::new).stream().toList();
    }

    private record ReadChanges(InstanceChanges changes) implements Plugin.Task {
        @Override
        public Duration interval() {
            return CHANGES_INTERVAL;
        }

        @Override
        public void run() {
            changes.run();
        }
    }

    /** Returns the operations for operators. Throws an {@link IllegalStateException} if the deployment has not ended. */
    public Operations operations() {
        Operations started = operations;
        if (started == null) {
            throw new IllegalStateException("the deployment of rate limits has not ended");
        }
        return started;
    }
}
