// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.metrics.NearLimitReport;
import io.weir.ratelimit.core.metrics.RejectedKeysLog;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.Reload;
import java.util.ArrayList;
import java.util.List;

/** The tasks that an application repeats while it runs. */
record RepeatedTasks(
        Settings settings,
        Reload reload,
        RejectedKeysLog rejectedKeys,
        NearLimitReport nearLimits,
        List<Plugin.Task> others) {
    /** Reports the keys near a limit, and returns the timers of all tasks that the settings enable. */
    List<TaskTimer> timers(Sleeper sleeper) {
        List<TaskTimer> timers = new ArrayList<>();
        if (settings.reloads()) {
            timers.add(new TaskTimer(sleeper, () -> settings.reloadInterval().toMillis() * 1_000, reload));
        }
        if (settings.enabled()) {
            timers.add(new TaskTimer(sleeper, () -> RejectedKeysLog.INTERVAL_MICROS, rejectedKeys));
            nearLimits.run();
            timers.add(new TaskTimer(sleeper, () -> NearLimitReport.INTERVAL_MICROS, nearLimits));
            others.forEach(task ->
                    timers.add(new TaskTimer(sleeper, () -> task.interval().toMillis() * 1_000, task)));
        }
        return timers;
    }
}
