// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import java.util.LinkedHashMap;
import java.util.Map;

/** A history as a JSON object. */
final class HistoryView {
    private HistoryView() {}

    static Map<String, Object> of(FleetHistory.Series series) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("start", series.first() * FleetStore.STEP.toMillis());
        view.put("stepMillis", FleetStore.STEP.toMillis());
        view.put("problem", series.problem());
        view.put(
                "decided",
                series.counts().stream().map(StepCounts.Counts::decided).toList());
        view.put(
                "rejected",
                series.counts().stream().map(StepCounts.Counts::rejected).toList());
        return view;
    }
}
