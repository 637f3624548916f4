// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.outgoing.OutgoingListener.Cause;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The rules by which the answer of an upstream pauses a client and lowers its quota. */
final class UpstreamRules {
    private static final int FIRST_ERROR = 400;
    private static final int TOO_MANY_REQUESTS = 429;

    /** The shortest pause after a 429. Many upstreams round their time down, also to 0. */
    private static final long LEAST_PAUSE_SECONDS = 1;

    private static final long SECOND_MICROS = 1_000_000;

    private final RateLimitEngine engine;
    private final RateLimiter limiter;
    private final OutgoingListener listener;
    private final InstantSource clock;

    /** The messages that are logged once: the client alone, or with a field or an outage. */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** The quotas that a response lowers at this moment, by policy and stored key. */
    private final Set<String> lowering = ConcurrentHashMap.newKeySet();

    UpstreamRules(RateLimitEngine engine, RateLimiter limiter, OutgoingListener listener, InstantSource clock) {
        this.engine = engine;
        this.limiter = limiter;
        this.listener = listener;
        this.clock = clock;
    }

    /** Applies a response. Returns the pause of the key in microseconds, which is to be stored, 0 if there is none. */
    long apply(Permit permit, UpstreamResponse response) {
        OutgoingClient client = permit.client();
        UpstreamAnswer answer = UpstreamAnswer.read(response.fields(), clock.instant());
        answer.malformed().forEach((field, malformed) -> {
            if (logged.add(client.name() + ' ' + field)) {
                malformed
                        .readAs()
                        .ifPresentOrElse(
                                readAs ->
                                        MESSAGES.log("WEIR-236.read", client.name(), field, malformed.value(), readAs),
                                () -> MESSAGES.log("WEIR-236", client.name(), field, malformed.value()));
            }
        });
        long ofStatus = client.obeysRetryAfter() ? pauseSeconds(response.status(), answer) : 0;
        long ofQuota = client.obeysQuotas() && ofStatus == 0 ? exhaustedSeconds(answer) : 0;
        if (ofStatus > 0 || ofQuota > 0) {
            return pause(permit, Math.max(ofStatus, ofQuota), ofStatus > 0 ? Cause.STATUS : Cause.QUOTA);
        }
        if (client.obeysQuotas()) {
            lower(permit, answer.quotas());
        }
        return 0;
    }

    /**
     * Returns the pause that an error requires. {@code Retry-After} takes precedence over the quotas. A 429 with a field that cannot be read
     * pauses for longer than one without a time.
     */
    static long pauseSeconds(int status, UpstreamAnswer answer) {
        if (status < FIRST_ERROR) {
            return 0;
        }
        boolean limited = status == TOO_MANY_REQUESTS && !answer.stored();
        if (answer.retryAfterSeconds().isPresent()) {
            return Math.max(answer.retryAfterSeconds().getAsLong(), limited ? LEAST_PAUSE_SECONDS : 0);
        }
        if (!limited) {
            return 0;
        }
        long exhausted = exhaustedSeconds(answer);
        long least = answer.hasIgnoredField() ? UpstreamNumber.UNREADABLE_SECONDS : LEAST_PAUSE_SECONDS;
        return Math.max(exhausted, least);
    }

    /** Returns the longest time until the reset of a quota without remaining calls. */
    private static long exhaustedSeconds(UpstreamAnswer answer) {
        return answer.quotas().stream()
                .filter(quota -> quota.remaining() == 0)
                .mapToLong(UpstreamQuota::resetSeconds)
                .max()
                .orElse(0);
    }

    /** Bounds and reports the pause of the key. Returns it in microseconds, 0 if no policy is enforced for the key. */
    private long pause(Permit permit, long seconds, Cause cause) {
        OutgoingClient client = permit.client();
        long maximum = client.maxPause().toSeconds();
        if (seconds > maximum && logged.add(client.name())) {
            MESSAGES.log("WEIR-237", client.name(), seconds, maximum);
        }
        long bounded = Math.min(seconds, maximum);
        listener.paused(client.name(), cause);
        return blockedPolicy(permit.binding(), storedKey(permit)) == null ? 0 : TimeUnit.SECONDS.toMicros(bounded);
    }

    private String storedKey(Permit permit) {
        return engine.encoder().encode(permit.key());
    }

    /** Returns the policy under which a pause blocks the key, null if no policy rejects its calls. */
    static @Nullable Policy blockedPolicy(Binding binding, String storedKey) {
        for (Binding.PolicyCost policyCost : binding.policies()) {
            if (!policyCost.policy().isShadowFor(storedKey)) {
                return policyCost.policy();
            }
        }
        return null;
    }

    /**
     * Stores a pause: blocks the key under the first policy of the client that is enforced for it. All policies are decided together, so
     * one block is enough. Returns false if the backend has not stored the pause.
     */
    boolean store(OutgoingClient client, Binding binding, Identity key, long micros) {
        String storedKey = engine.encoder().encode(key);
        Policy blocked = blockedPolicy(binding, storedKey);
        if (blocked == null) {
            return true;
        }
        String outage = client.name() + " outage";
        try {
            Duration rest = limiter.block(blocked.name(), key, Micros.duration(micros));
            listener.stored(blocked.name(), storedKey, rest);
            logged.remove(outage);
            return true;
        } catch (RateLimitUnavailableException | UnsupportedOperationException | IllegalArgumentException e) {
            if (logged.add(outage)) {
                MESSAGES.log("WEIR-238", client.name(), TimeUnit.MICROSECONDS.toSeconds(micros), e.getMessage());
            }
            return false;
        }
    }

    /**
     * Charges the permits that the upstream does not have any more, at most once for each response. A quota whose reset is unknown or over
     * says nothing about later calls.
     */
    private void lower(Permit permit, List<UpstreamQuota> quotas) {
        if (!permit.owned() || !(permit.decision() instanceof Decision.Allowed allowed)) {
            return;
        }
        Optional<UpstreamQuota> least = quotas.stream()
                .filter(quota -> quota.resetSeconds() > 0)
                .min(Comparator.comparingLong(UpstreamQuota::remaining));
        least.ifPresent(reported -> policyOf(permit, reported)
                .ifPresent(policyCost -> allowed.quotas().stream()
                        .filter(own -> own.policy().equals(policyCost.policy().name()))
                        .findFirst()
                        .filter(own -> excess(policyCost.policy(), own, reported) > 0)
                        .ifPresent(own -> lower(permit, allowed, policyCost, own, reported))));
    }

    /**
     * Lowers a quota, unless another response lowers it at this moment: what that one charges is not in the current quota yet. A failure
     * leaves the quota as it is.
     */
    private void lower(
            Permit permit, Decision.Allowed allowed, Binding.PolicyCost policyCost, Quota own, UpstreamQuota reported) {
        Policy policy = policyCost.policy();
        String lowered = policy.name() + ' ' + storedKey(permit);
        if (lowering.add(lowered)) {
            CompletableFuture.completedStage(policy)
                    .thenApply(known -> currentExcess(known, permit.key(), own, reported))
                    .thenCompose(excess -> excess <= 0
                            ? CompletableFuture.<Void>completedStage(null)
                            : engine.settlements()
                                    .settleAsync(allowed.receipt(), policy.name(), policyCost.cost() + excess))
                    .whenComplete((settled, failure) -> lowering.remove(lowered));
        }
    }

    /** Returns the part of the excess at the decision that remains now, because other responses can have lowered the quota since. */
    private long currentExcess(Policy policy, Identity key, Quota own, UpstreamQuota reported) {
        return limiter.peek(policy.name(), key).stream()
                .filter(current -> current.name().equals(own.name()))
                .mapToLong(current -> Math.min(excess(policy, own, reported), excess(policy, current, reported)))
                .findFirst()
                .orElse(0);
    }

    /**
     * Returns the policy, enforced for the key, with one limit whose window is the shortest that is not shorter than the time to the reset.
     */
    private Optional<Binding.PolicyCost> policyOf(Permit permit, UpstreamQuota reported) {
        String storedKey = storedKey(permit);
        return permit.binding().policies().stream()
                .filter(policyCost -> !policyCost.policy().isShadowFor(storedKey)
                        && policyCost.policy().limits().limits().size() == 1)
                .filter(policyCost -> window(policyCost).toSeconds() >= reported.resetSeconds())
                .min(Comparator.comparing(UpstreamRules::window));
    }

    private static Duration window(Binding.PolicyCost policyCost) {
        return limit(policyCost.policy()).window();
    }

    private static Limit limit(Policy policy) {
        return policy.limits().limits().get(0);
    }

    /**
     * Returns the permits by which the own quota exceeds that of the upstream; 0 if the lowered quota would last for more than a second
     * longer than that of the upstream, whose times are rounded to seconds.
     */
    static long excess(Policy policy, Quota own, UpstreamQuota reported) {
        long excess = own.remaining() - reported.remaining();
        if (excess <= 0) {
            return 0;
        }
        Algorithm algorithm = policy.form().algorithm();
        boolean bucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
        double added = bucket && own.permits() > 0
                ? (double) excess / own.permits() * own.window().toSeconds() * SECOND_MICROS
                : 0;
        return Micros.resetAfter(own) + added <= (reported.resetSeconds() + 1) * SECOND_MICROS ? excess : 0;
    }
}
