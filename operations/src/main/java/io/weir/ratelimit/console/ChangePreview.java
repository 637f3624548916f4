// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** The effect of a change before it is made, as a JSON object: the problems, the values, and an estimate from the counts of calls. */
final class ChangePreview {
    private final Operations operations;
    private final RuntimeChanges changes;
    private final Fleet fleet;

    ChangePreview(Operations operations, RuntimeChanges changes, Fleet fleet) {
        this.operations = operations;
        this.changes = changes;
        this.fleet = fleet;
    }

    Map<String, Object> of(PostedChange posted) {
        ChangeRequest request = posted.by("preview", "preview");
        List<ConfigurationProblem> problems = changes.problems(request);
        Map<String, String> before = before(posted);
        Map<String, String> after = after(posted);
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("policy", posted.subject().policy());
        view.put("key", posted.key());
        view.put("problems", ChangesView.problems(problems));
        view.put("warnings", changes.warnings(request));
        view.put("before", before);
        view.put("after", after);
        view.put("enforced", problems.isEmpty() ? isEnforced(posted) : Optional.empty());
        view.put("estimate", problems.isEmpty() ? estimate(posted, after) : Optional.empty());
        return view;
    }

    /** Tests whether the policy of a key rejects its calls; empty for a change of a policy, whose values have the mode. */
    private Optional<Boolean> isEnforced(PostedChange posted) {
        return posted.subject()
                .storedKey()
                .map(key -> operations.isEnforced(posted.subject().policy(), key));
    }

    /** Returns the values with the change. An override replaces an earlier one of its key as a whole, and its limit has its own burst. */
    private Map<String, String> after(PostedChange posted) {
        boolean override = posted.subject().kind() == Kind.OVERRIDE;
        Map<String, String> values = new TreeMap<>(override ? ofPolicy(posted) : before(posted));
        if (override && posted.values().containsKey("limit")) {
            values.remove("burst");
        }
        values.putAll(posted.values());
        return values;
    }

    /** Returns the current values of the attributes that changes of this kind can have. */
    private Map<String, String> before(PostedChange posted) {
        Map<String, String> values = ofPolicy(posted);
        changes.view().active().stream()
                .filter(change -> change.subject().equals(posted.subject())
                        && posted.subject().kind() == Kind.OVERRIDE)
                .findFirst()
                .map(RuntimeChange::values)
                .ifPresent(values::putAll);
        return values;
    }

    private Map<String, String> ofPolicy(PostedChange posted) {
        Map<String, String> values = new TreeMap<>();
        if (posted.subject().kind() == Kind.BLOCK) {
            return values;
        }
        policy(posted).ifPresent(policy -> {
            if (posted.subject().kind() == Kind.POLICY) {
                values.put("mode", policy.mode());
                values.put("on-failure", policy.onFailure());
            }
            for (PolicyView.Setting setting : policy.settings()) {
                String attribute = ReportBuilder.attribute(setting.property(), policy.name());
                if (posted.canHave(attribute)) {
                    values.put(attribute, setting.value());
                }
            }
        });
        return values;
    }

    private Optional<PolicyView> policy(PostedChange posted) {
        return operations.policies().stream()
                .filter(policy -> policy.name().equals(posted.subject().policy()))
                .findFirst();
    }

    private Optional<Map<String, Object>> estimate(PostedChange posted, Map<String, String> after) {
        String name = posted.subject().policy();
        MergedKeys keys = new FleetCallers(fleet, operations).of(name);
        String algorithm = policy(posted).map(PolicyView::algorithm).orElse("");
        Function<Duration, List<AllowedCalls>> limits = posted.subject().kind() == Kind.BLOCK
                ? period -> List.of(AllowedCalls.NONE)
                : period -> AllowedCalls.of(after.getOrDefault("limit", ""), algorithm, after.get("burst"), period);
        if (limits.apply(keys.period()).isEmpty()) {
            return Optional.empty();
        }
        List<MergedKeys.Entry> considered = keys.active().stream()
                .filter(entry -> posted.subject()
                        .storedKey()
                        .map(entry.storedKey()::equals)
                        .orElse(true))
                .toList();
        return Optional.of(new PreviewEstimate(fleet, operations, name).of(keys, considered, limits));
    }
}
