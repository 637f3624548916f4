// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.core.changes.InstanceChanges;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.metrics.NearLimitReport;
import io.weir.ratelimit.core.metrics.RejectedKeysLog;
import io.weir.ratelimit.core.operations.RepeatedTask;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.Reload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The tasks that an application repeats while it runs.
 *
 * @param settings the settings
 * @param reload reads the configuration
 * @param changes reads the runtime changes; empty if they are not enabled
 * @param rejectedKeys logs the keys with the most rejections
 * @param nearLimits reports the keys near a limit
 * @param others the tasks of other modules
 */
public record RepeatedTasks(
        Settings settings,
        Reload reload,
        Optional<InstanceChanges> changes,
        RejectedKeysLog rejectedKeys,
        NearLimitReport nearLimits,
        List<RepeatedTask> others) {
    /** The interval at which the runtime changes are read. A change applies everywhere within a second. */
    private static final long CHANGES_INTERVAL_MICROS = TimeUnit.MILLISECONDS.toMicros(400);

    /** Reports the keys near a limit, and returns the timers of all tasks that the settings enable. */
    public List<TaskTimer> timers(Sleeper sleeper) {
        List<TaskTimer> timers = new ArrayList<>();
        if (settings.reloads()) {
            timers.add(new TaskTimer(sleeper, settings.reloadInterval().toMillis() * 1_000, reload));
        }
        changes.ifPresent(task -> timers.add(new TaskTimer(sleeper, CHANGES_INTERVAL_MICROS, task)));
        if (settings.enabled()) {
            timers.add(new TaskTimer(sleeper, RejectedKeysLog.INTERVAL_MICROS, rejectedKeys));
            nearLimits.run();
            timers.add(new TaskTimer(sleeper, NearLimitReport.INTERVAL_MICROS, nearLimits));
            others.forEach(
                    task -> timers.add(new TaskTimer(sleeper, task.interval().toMillis() * 1_000, task)));
        }
        return timers;
    }
}
