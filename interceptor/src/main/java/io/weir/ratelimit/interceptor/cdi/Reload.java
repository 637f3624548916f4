// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.operate.Readings;
import io.weir.ratelimit.interceptor.policy.ConfigSnapshot;
import io.weir.ratelimit.interceptor.policy.Problems;
import io.weir.ratelimit.interceptor.policy.ReloadListener;
import io.weir.ratelimit.interceptor.policy.ReloadListener.Result;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;

/**
 * Reads configuration again and lets hold what is right of it. One thread at a time; nothing is made unless a property has
 * changed. A set of mistakes is said once, until it is another one.
 */
final class Reload implements Runnable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final RulebookReader reader;
    private final Supplier<Config> configuration;
    private final Consumer<Rulebook> holds;
    private final ReloadListener listener;
    private final Readings readings;
    private ConfigSnapshot known;
    private Rulebook rulebook;
    private Set<ConfigurationProblem> said = Set.of();
    private boolean failing;

    /**
     * A reload that has nothing to do until something changes.
     *
     * @param configuration gives configuration as it is now
     * @param known what was read before
     * @param rulebook what was made of it
     * @param holds takes each new rulebook
     * @param listener hears what came of each change
     * @param readings keeps what came of reading last
     */
    Reload(
            RulebookReader reader,
            Supplier<Config> configuration,
            ConfigSnapshot known,
            Rulebook rulebook,
            Consumer<Rulebook> holds,
            ReloadListener listener,
            Readings readings) {
        this.reader = reader;
        this.configuration = configuration;
        this.known = known;
        this.rulebook = rulebook;
        this.holds = holds;
        this.listener = listener;
        this.readings = readings;
    }

    /** Reads once. Does not throw what sources throw. */
    @Override
    public synchronized void run() {
        try {
            Config now = configuration.get();
            boolean changed = !known.isSameIn(now) && read(new ConfigSnapshot(now));
            readings.read(said.isEmpty() ? Result.APPLIED : Result.INVALID, List.copyOf(said), changed);
            failing = false;
        } catch (RuntimeException | LinkageError e) {
            listener.reloaded(Result.FAILED);
            readings.read(Result.FAILED, List.of(failure(e)), false);
            if (!failing) {
                failing = true;
                LOG.log(
                        Level.WARNING,
                        "WEIR-317 configuration cannot be read again, so all stays as it is; said once until it can",
                        e);
            }
        }
    }

    /** Without what it says, which can have a secret in it. */
    private static ConfigurationProblem failure(Throwable thrown) {
        return new ConfigurationProblem(
                "WEIR-317",
                "configuration",
                "",
                "cannot be read again: a source of it fails with "
                        + thrown.getClass().getName(),
                "look at the exception in the log; all stays as it is");
    }

    /** Whether something else holds now. */
    private boolean read(ConfigSnapshot now) {
        Problems problems = new Problems();
        Rulebook next = reader.readAgain(now, rulebook, problems);
        known = now;
        List<String> changes = changes(rulebook, next);
        if (!changes.isEmpty() || !next.origins().equals(rulebook.origins())) {
            rulebook = next;
            holds.accept(next);
        }
        boolean corrected = !said.isEmpty() && problems.found().isEmpty();
        say(problems);
        if (!changes.isEmpty() || corrected) {
            LOG.log(
                    Level.INFO,
                    "WEIR-314 configuration was read again: {0}{1}",
                    changes.isEmpty() ? "as before" : String.join("; ", changes),
                    corrected ? "; nothing is wrong with it any more" : "");
        }
        if (!problems.found().isEmpty()) {
            listener.reloaded(Result.INVALID);
        } else if (!changes.isEmpty() || corrected) {
            listener.reloaded(Result.APPLIED);
        }
        return !changes.isEmpty();
    }

    private void say(Problems problems) {
        Set<ConfigurationProblem> found = new LinkedHashSet<>(problems.found());
        if (!found.isEmpty() && !found.equals(said)) {
            LOG.log(
                    Level.WARNING,
                    "WEIR-313 configuration has changed and is wrong; what is wrong stays as it was:\n{0}",
                    problems.lines());
        }
        said = found;
    }

    private static List<String> changes(Rulebook before, Rulebook now) {
        List<String> changes = new ArrayList<>();
        add(
                changes,
                "new policies ",
                without(now.policies().keySet(), before.policies().keySet()));
        add(
                changes,
                "policies no longer there ",
                without(before.policies().keySet(), now.policies().keySet()));
        add(changes, "changed policies ", changed(before.policies(), now.policies()));
        Set<String> costs = without(now.costs().keySet(), before.costs().keySet());
        costs.addAll(without(before.costs().keySet(), now.costs().keySet()));
        costs.addAll(changed(before.costs(), now.costs()));
        add(changes, "changed costs of ", costs);
        if (!now.bypass().equals(before.bypass())) {
            changes.add("changed bypass");
        }
        return changes;
    }

    private static void add(List<String> changes, String what, Set<String> names) {
        if (!names.isEmpty()) {
            changes.add(what + names);
        }
    }

    private static Set<String> without(Set<String> names, Set<String> others) {
        Set<String> rest = new TreeSet<>(names);
        rest.removeAll(others);
        return rest;
    }

    private static Set<String> changed(Map<String, ?> before, Map<String, ?> now) {
        Set<String> changed = new TreeSet<>(before.keySet());
        changed.removeIf(name -> !now.containsKey(name) || now.get(name).equals(before.get(name)));
        return changed;
    }
}
