// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.core.snapshot.ValueLayer.KeyValues;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A reload of the policies. It loads a new snapshot if a property or a runtime change has changed; the valid parts of a change apply. A set
 * of problems is logged once, until the problems change. Only one thread at a time reloads. A slow configuration source does not delay
 * runtime changes, because the sources are read without the monitor.
 */
public final class Reload implements Runnable {
    private final PolicySnapshotLoader loader;
    private final Supplier<ConfigProperties> configuration;
    private final Consumer<PolicySnapshot> target;
    private final ReloadListener listener;
    private final Readings readings;

    /** Held while the configuration sources are read. */
    private final ReentrantLock reading = new ReentrantLock();

    private volatile ConfigSnapshot loadedConfig;

    /** The snapshot of the configuration, without runtime changes. */
    private volatile PolicySnapshot configured;

    private List<ConfigurationProblem> ofConfiguration = List.of();

    private PolicySnapshot snapshot;
    private Optional<ValueLayer> layer = Optional.empty();
    private Set<ConfigurationProblem> problems = Set.of();
    private boolean failing;

    /** Creates a reload, whose listener receives the result of each change. */
    public Reload(
            PolicySnapshotLoader loader,
            Supplier<ConfigProperties> configuration,
            ConfigSnapshot loadedConfig,
            PolicySnapshot snapshot,
            Consumer<PolicySnapshot> target,
            ReloadListener listener,
            Readings readings) {
        this.loader = loader;
        this.configuration = configuration;
        this.loadedConfig = loadedConfig;
        this.configured = snapshot;
        this.snapshot = snapshot;
        this.target = target;
        this.listener = listener;
        this.readings = readings;
    }

    /** Reloads once. An exception of a configuration source is logged and not thrown. */
    @Override
    public void run() {
        reading.lock();
        try {
            ConfigProperties current = configuration.get();
            if (loadedConfig.isSameIn(current)) {
                record(false);
            } else {
                load(new ConfigSnapshot(current));
            }
            failing = false;
        } catch (RuntimeException | LinkageError e) {
            failed(e);
        } finally {
            reading.unlock();
        }
    }

    private synchronized void record(boolean changed) {
        readings.read(problems.isEmpty() ? Result.APPLIED : Result.INVALID, List.copyOf(problems), changed);
    }

    private synchronized void failed(Throwable thrown) {
        listener.reloaded(Result.FAILED);
        readings.read(Result.FAILED, List.of(problem(thrown)), false);
        if (!failing) {
            failing = true;
            MESSAGES.log(thrown, "WEIR-317");
        }
    }

    /** Describes an exception without its message, which can contain a secret. */
    private static ConfigurationProblem problem(Throwable thrown) {
        return MESSAGES.problem(
                "WEIR-317.source", "configuration", "", thrown.getClass().getName());
    }

    /** Loads a changed configuration, and then applies it with the runtime changes that are in force at that time. */
    private void load(ConfigSnapshot config) {
        Problems found = new Problems();
        found.addAll(config.problems());
        PolicySnapshot next = loader.reload(config, configured, found);
        synchronized (this) {
            configured = next;
            loadedConfig = config;
            ofConfiguration = found.found();
            record(replace(true));
        }
    }

    /** Applies the values of runtime changes over the configuration that was read last. */
    public synchronized void apply(ValueLayer changed) {
        layer = Optional.of(changed).filter(values -> !values.isEmpty());
        record(replace(false));
    }

    /** Checks the configuration with the values of runtime changes, and limits of single keys, without applying them. */
    public synchronized Findings check(ValueLayer changed, Collection<KeyValues> overrides) {
        Problems found = new Problems();
        ConfigProperties config = changed.over(loadedConfig, names());
        PolicySnapshot next = loader.change(config, snapshot, configured, found);
        return new Findings(found.found(), next.invalid(), loader.problems(next, config, overrides));
    }

    /** Returns the warnings about a policy with the values of runtime changes, without applying them; none if it is invalid. */
    public synchronized List<String> warnings(ValueLayer changed, String policy) {
        ConfigProperties config = changed.over(loadedConfig, names());
        PolicySnapshot next = loader.change(config, snapshot, configured, new Problems());
        return loader.warnings(next, policy).stream()
                .map(MessageCatalog.Message::text)
                .toList();
    }

    /** Returns the configuration that was read last, another object after each change. */
    public ConfigSnapshot configuration() {
        return loadedConfig;
    }

    /** Returns the names of the policies that exist without runtime changes. */
    public Set<String> names() {
        return configured.policies().keySet();
    }

    /** Replaces the snapshot in force, if it changes. Returns whether the policies have changed. */
    private boolean replace(boolean reloaded) {
        Problems found = new Problems();
        found.addAll(ofConfiguration);
        PolicySnapshot next = layer.map(
                        values -> loader.change(values.over(loadedConfig, names()), snapshot, configured, found))
                .orElse(configured);
        PolicyChanges changes = PolicyChanges.between(snapshot, next);
        List<MessageCatalog.Message> warnings = loader.warnings(next);
        warnings.removeAll(loader.warnings(snapshot));
        if (!changes.isEmpty() || !next.origins().equals(snapshot.origins())) {
            snapshot = next;
            target.accept(next);
        }
        boolean corrected = !problems.isEmpty() && found.found().isEmpty();
        logProblems(found);
        if (reloaded) {
            notify(changes, found, corrected);
        }
        warnings.forEach(warning -> warning.log());
        return !changes.isEmpty();
    }

    private void notify(PolicyChanges changes, Problems found, boolean corrected) {
        if (!changes.isEmpty() || corrected) {
            MESSAGES.log(corrected ? "WEIR-314.corrected" : "WEIR-314", changes);
        }
        if (!changes.withoutPaths().isEmpty()) {
            MESSAGES.log("WEIR-325", changes.withoutPaths());
        }
        if (!found.found().isEmpty()) {
            listener.reloaded(Result.INVALID);
        } else if (!changes.isEmpty() || corrected) {
            listener.reloaded(Result.APPLIED);
        }
    }

    private void logProblems(Problems found) {
        Set<ConfigurationProblem> current = new LinkedHashSet<>(found.found());
        if (!current.isEmpty() && !current.equals(problems)) {
            MESSAGES.message("WEIR-313").withLines(found.lines()).log();
        }
        problems = current;
    }
}
