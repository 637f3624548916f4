// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.outgoing.ClientPlugin;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.ChangeUnsentException;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.CallContext;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs operations on a limiter. */
final class Calls {
    /** Far more than the calls that run at once. */
    private static final int MOST_RECEIPTS = 20_000;

    /** Stands between the two parts of an acquire: its policies, its keys and its results. */
    static final String AND = ",";

    private static final int ATTEMPTS = 5;
    private static final String OPERATOR = "operator";

    private final HostedWeir weir;
    private final RateLimiter limiter;
    private final Set<String> headers = Workload.withOwnKeys();
    private final RuntimeChanges changes;
    private final Upstream upstream;
    private final Map<Long, Decision> decisions = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Decision> eldest) {
            return size() > MOST_RECEIPTS;
        }
    });

    Calls(HostedWeir weir) {
        this.weir = weir;
        this.limiter = weir.limiter();
        this.changes =
                weir.plugin(OperationsPlugin.class).operations().changes().orElseThrow();
        this.upstream = new Upstream(weir.plugin(ClientPlugin.class).calls());
    }

    /**
     * Runs an operation.
     *
     * @param words its number, kind, policy, key, amount and call; an acquire under two policies has two of them, and two keys
     * @return its outcome and value, or those of both parts
     */
    String run(String... words) {
        try {
            if (words[2].contains(AND)) {
                return joint(words[2].split(AND, -1), words[3].split(AND, -1), Long.parseLong(words[4]));
            }
            return run(
                    Long.parseLong(words[0]),
                    Kind.valueOf(words[1]),
                    words[2],
                    identity(words[2], words[3]),
                    Long.parseLong(words[4]),
                    Long.parseLong(words[5]));
        } catch (RateLimitUnavailableException | ChangeUnsentException e) {
            return Outcome.FAILED + " 0";
        } catch (RuntimeException e) {
            e.printStackTrace();
            return Outcome.BROKEN + " 0";
        }
    }

    private String run(long number, Kind kind, String policy, Identity key, long amount, long call) {
        switch (kind) {
            case ACQUIRE -> {
                Decision decision = limiter.acquire(policy, key, amount);
                if (decision.allowed()) {
                    decisions.put(number, decision);
                }
                return outcome(decision) + " " + quota(decision);
            }
            case RELEASE, REFUND, SETTLE -> {
                Decision decision = kind == Kind.RELEASE ? decisions.remove(call) : decisions.get(call);
                return (decision == null ? Outcome.FAILED : end(kind, decision, amount)) + " 0";
            }
            case BLOCK -> limiter.block(policy, key, Duration.ofNanos(amount));
            case UNBLOCK -> limiter.unblock(policy, key);
            case PEEK -> {
                Quota quota = limiter.peek(policy, key).get(0);
                return Outcome.DONE + " " + (quota.capacity() - quota.remaining());
            }
            case READ -> {
                return Outcome.DONE + " " + limiter.peek(policy, key).get(0).permits();
            }
            case SEND -> {
                return upstream.send(number, policy, key.parts().get(0).value()) + " 0";
            }
            case ANSWER -> {
                return upstream.answer(call, amount) + " 0";
            }
            case CHANGE -> {
                return change(policy, amount, call);
            }
            default -> throw new IllegalArgumentException(kind.toString());
        }
        return Outcome.DONE + " 0";
    }

    private Identity identity(String policy, String key) {
        return headers.contains(policy) ? Identity.header(policy, key) : Identity.of(key);
    }

    /** Decides a call under two policies, whose keys are headers with their names. */
    private String joint(String[] policies, String[] keys, long cost) {
        Map<String, String> values = Map.of(policies[0], keys[0], policies[1], keys[1]);
        CallContext call = new CallContext() {
            @Override
            public Optional<String> header(String name) {
                return Optional.ofNullable(values.get(name));
            }

            @Override
            public Optional<String> peerAddress() {
                return Optional.empty();
            }

            @Override
            public Optional<String> principal() {
                return Optional.empty();
            }

            @Override
            public Optional<Object> argument(String name) {
                return Optional.empty();
            }
        };
        List<Binding.PolicyCost> costs = Stream.of(policies)
                .map(policy -> new Binding.PolicyCost(
                        Objects.requireNonNull(weir.policies().policies().get(policy)), cost))
                .toList();
        RateLimitEngine.JointDecision joint = weir.engine()
                .decideAsync("joint", List.of(new RateLimitEngine.JointCall(costs, call)), Runnable::run)
                .join();
        Decision decision = joint.decision();
        if (!(decision instanceof Decision.Allowed)) {
            return outcome(decision) + " " + quota(decision);
        }
        return joint.results().get(0).stream().map(Calls::part).collect(Collectors.joining(AND));
    }

    /** Returns the result of a part of an allowed call, which a policy in shadow mode can reject or not know. */
    private static String part(ChargeResult result) {
        if (result.quotas().isEmpty()) {
            return Outcome.FAILED + " 0";
        }
        Quota quota = result.quotas().get(0);
        return result.rejected()
                ? Outcome.REJECTED + " "
                        + quota.retryAfter().map(Calls::seconds).orElse(0L)
                : Outcome.ALLOWED + " " + quota.remaining();
    }

    /** Ends a call of this process. A process that has started again has no receipts of earlier calls. */
    private Outcome end(Kind kind, Decision decision, long amount) {
        switch (kind) {
            case RELEASE -> limiter.release(decision.receipt());
            case REFUND -> limiter.refund(decision.receipt());
            case SETTLE -> limiter.settle(decision.receipt(), amount);
            default -> throw new IllegalArgumentException(kind.toString());
        }
        return Outcome.DONE;
    }

    private static Outcome outcome(Decision decision) {
        if (decision instanceof Decision.Degraded) {
            return decision.allowed() ? Outcome.DEGRADED_ALLOWED : Outcome.DEGRADED_REJECTED;
        }
        if (decision instanceof Decision.Rejected rejected) {
            return rejected.blocked() ? Outcome.BLOCKED : Outcome.REJECTED;
        }
        return Outcome.ALLOWED;
    }

    /** Returns the remaining permits, or the wait as a response has it: in whole seconds, and at least one. */
    private static long quota(Decision decision) {
        if (decision instanceof Decision.Degraded degraded) {
            return degraded.allowed() ? 0 : seconds(degraded.retryAfter());
        }
        if (decision instanceof Decision.Rejected rejected) {
            return rejected.retryAfter().map(Calls::seconds).orElse(0L);
        }
        return decision.quotas().get(0).remaining();
    }

    private static long seconds(Duration wait) {
        return Math.max(1, wait.plusSeconds(1).minusNanos(1).toSeconds());
    }

    /** Makes a change of a limit, or undoes one with a number. The value is the number of the change. */
    private String change(String policy, long limit, long undone) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                String tag = changes.view().tag();
                RuntimeChange change = undone == 0
                        ? changes.make(request(policy, limit), tag)
                        : changes.undo(undone, "test", OPERATOR, tag);
                return Outcome.DONE + " " + change.number();
            } catch (ChangeConflictException e) {
                // The state is read again: the next attempt has its tag.
            } catch (InvalidChangeException e) {
                break;
            }
        }
        return Outcome.REJECTED + " 0";
    }

    private static ChangeRequest request(String policy, long limit) {
        return new ChangeRequest(
                new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, policy, Optional.empty()),
                Map.of("limit", limit + "/1h"),
                Optional.empty(),
                "test",
                OPERATOR);
    }
}
