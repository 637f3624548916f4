// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.PeriodEnd;
import io.weir.ratelimit.core.policy.Policy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** The problems of rejected calls (RFC 9457) under the current version of a policy. */
public record RejectionProblems(Function<String, Optional<Policy>> policies) {
    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final long MINUTE = 60;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    /** Returns whether a policy of a decision has minimal disclosure. */
    public boolean isMinimal(Decision decision) {
        return decision.quotas().stream()
                .map(Quota::policy)
                .flatMap(name -> policies.apply(name).stream())
                .anyMatch(policy -> policy.response().disclosure() == Policy.Disclosure.MINIMAL);
    }

    /** Returns a problem that names the policies. */
    public Problem named(Decision.Rejected decision) {
        List<String> violated = decision.violatedPolicies();
        OptionalLong wait = QuotaView.waitSeconds(decision);
        if (decision.blocked()) {
            return exceeded(
                    decision,
                    "The caller is blocked under the policy " + blockedPolicy(decision) + ".",
                    limits(decision),
                    wait,
                    help(violated));
        }
        String detail = wait.isEmpty()
                ? "The call costs more than the policy "
                        + decision.decisiveQuota().policy() + " can ever allow."
                : reason(decision, violated.get(0));
        return exceeded(decision, detail, limits(decision), wait, help(violated));
    }

    /** Returns the names of the limits that rejected the call, as the header fields name them. */
    private static List<String> limits(Decision.Rejected decision) {
        return decision.quotas().stream()
                .filter(Quota::rejected)
                .map(Quota::name)
                .distinct()
                .toList();
    }

    private static String reason(Decision.Rejected decision, String policy) {
        boolean onlySlots = decision.quotas().stream()
                .filter(quota -> quota.rejected() && quota.policy().equals(policy))
                .allMatch(quota -> quota.kind() == Quota.Kind.CONCURRENCY);
        return onlySlots
                ? "Too many calls of the caller run at once under the policy " + policy + "."
                : "The quota of the policy " + policy + " is used up" + reset(decision, policy) + ".";
    }

    private Optional<String> help(List<String> violated) {
        return violated.stream()
                .flatMap(name ->
                        policies.apply(name).flatMap(policy -> policy.response().help()).stream())
                .findFirst();
    }

    private static String blockedPolicy(Decision.Rejected decision) {
        return decision.quotas().stream()
                .filter(Quota::blocked)
                .map(Quota::policy)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the end of the period if a calendar limit of the policy is the one with the longest wait. */
    private static String reset(Decision.Rejected decision, String policy) {
        Quota decisive = decision.decisiveQuota();
        return decisive.periodEnd()
                .filter(end -> decisive.policy().equals(policy))
                .map(end -> " and resets on " + PeriodEnd.text(end))
                .orElse("");
    }

    /** Returns a problem that discloses no policy. */
    public static Problem generic(Decision.Rejected decision) {
        return exceeded(
                decision,
                "There were too many requests.",
                List.of(),
                QuotaView.waitSeconds(decision),
                Optional.empty());
    }

    /** Returns the problem of an exhausted quota, or of a blocked key. */
    private static Problem exceeded(
            Decision.Rejected decision,
            String detail,
            List<String> violated,
            OptionalLong wait,
            Optional<String> help) {
        return new Problem(
                TOO_MANY_REQUESTS,
                "Too Many Requests",
                TYPES + (decision.blocked() ? "abnormal-usage-detected" : "quota-exceeded"),
                decision.blocked() ? "rate_limit_blocked" : "rate_limit_exceeded",
                detail,
                violated,
                wait,
                help);
    }

    /** Returns the problem of a call that is rejected because the backend is unavailable. */
    public static Problem unavailable(Duration retryAfter) {
        return new Problem(
                SERVICE_UNAVAILABLE,
                "Service Unavailable",
                TYPES + "temporary-reduced-capacity",
                "rate_limit_unavailable",
                "The service cannot check its rate limits as usual at the moment and takes fewer calls.",
                List.of(),
                OptionalLong.of(unavailableSeconds(retryAfter)),
                Optional.empty());
    }

    /** Returns the wait in seconds, at least 1, which is the smallest valid value. */
    public static long unavailableSeconds(Duration retryAfter) {
        return Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds());
    }

    /**
     * The content of the response to a rejected call, independent of its format.
     *
     * @param error the error code for programs
     * @param violated the names of the limits that rejected the call; empty if there are none, or if they are not disclosed
     * @param retryAfter the seconds to wait, empty if no wait helps
     * @param help the URI of the documentation of the limit
     */
    public record Problem(
            int status,
            String title,
            String type,
            String error,
            String detail,
            List<String> violated,
            OptionalLong retryAfter,
            Optional<String> help) {

        public Problem {
            violated = List.copyOf(violated);
        }

        /** Returns a text for users: the reason and the wait. */
        public String message() {
            return retryAfter.isEmpty() ? detail : detail + " Try again in " + inWords(retryAfter.getAsLong()) + ".";
        }

        /** Rounds a wait up to a unit that a person reads. */
        private static String inWords(long seconds) {
            if (seconds <= 2 * MINUTE) {
                return seconds + (seconds == 1 ? " second" : " seconds");
            }
            return seconds <= 2 * HOUR
                    ? up(seconds, MINUTE) + " minutes"
                    : seconds <= 2 * DAY ? up(seconds, HOUR) + " hours" : up(seconds, DAY) + " days";
        }

        private static long up(long seconds, long unit) {
            return (seconds - 1) / unit + 1;
        }

        public String json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("type", type);
            json.put("title", title);
            json.put("status", status);
            json.put("detail", detail);
            if (!violated.isEmpty()) {
                json.put("violated-policies", violated);
            }
            json.put("error", error);
            retryAfter.ifPresent(seconds -> json.put("retry_after", seconds));
            json.put("message", message());
            help.ifPresent(uri -> json.put("help", uri));
            return JsonText.of(json);
        }
    }
}
