// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The policies, in declared order, that apply to one method, or to one request of it. The endpoint is {@code Class.method}, or the path of
 * the first matching rule if only path rules limit the method.
 */
public record Binding(String endpoint, List<PolicyCost> policies) {
    /** The binding of a method that no annotation limits. */
    public static final Binding NONE = new Binding("", List.of());

    /** The binding of an exempt method, which no path rule limits either. */
    public static final Binding EXEMPT = new Binding("exempt", List.of());

    /** A policy with the permits, 1 or more, that a call spends under it. */
    public record PolicyCost(Policy policy, long cost) {}

    public Binding {
        policies = List.copyOf(policies);
    }

    /** Tests whether a call can be decided only when its arguments are known. */
    public boolean needsArguments() {
        for (PolicyCost policyCost : policies) {
            if (policyCost.policy().key().needsArguments()) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether a resolver of the application determines a key or a tier. It can block, and it reads the request on its thread. */
    public boolean callsResolver() {
        for (int i = 0; i < policies.size(); i++) {
            Policy policy = policies.get(i).policy();
            if (policy.key().callsResolver() || policy.tiers().callResolver()) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether a call can have to wait for its permits. */
    public boolean canWait() {
        for (int i = 0; i < policies.size(); i++) {
            if (policies.get(i).policy().maxWaitMicros() > 0) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether the charges of a call depend on its outcome. */
    public boolean countsOutcomes() {
        for (PolicyCost policyCost : policies) {
            if (policyCost.policy().count() != Policy.Count.ALWAYS) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether a call takes slots of concurrency limits, except those of a single key only. */
    public boolean takesSlots() {
        for (int i = 0; i < policies.size(); i++) {
            if (policies.get(i).policy().hasConcurrency()) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether used shares of a limit are reported. */
    public boolean notifies() {
        for (int i = 0; i < policies.size(); i++) {
            if (!policies.get(i).policy().notifyAt().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the keys of a caller for the report of used shares, anonymous ones if no policy reports any. They are resolved now, because
     * the thread that completes the call does not know the caller.
     */
    public Function<Policy, Identity> keysOf(CallContext call) {
        if (!notifies()) {
            return policy -> Identity.ANONYMOUS;
        }
        Map<String, Identity> known = new HashMap<>();
        policies.forEach(
                each -> known.put(each.policy().name(), each.policy().key().resolve(call)));
        return policy -> known.getOrDefault(policy.name(), Identity.ANONYMOUS);
    }

    /** Tests whether rejections are counted towards penalties. */
    public boolean penalizes() {
        for (int i = 0; i < policies.size(); i++) {
            if (policies.get(i).policy().penalty().isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Tests whether responses must not show quotas. A policy that rejects no calls of the key has no effect on responses. One that the
     * request has paid before has no charge, and an earlier decision has hidden it.
     */
    boolean isMinimal(List<Charge> charges) {
        for (PolicyCost policyCost : policies) {
            Policy policy = policyCost.policy();
            if (policy.response().disclosure() == Policy.Disclosure.MINIMAL
                    && (policy.rollout().mode() == Policy.Mode.ENFORCE
                            || (policy.canReject() && isEnforced(policy, charges)))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isEnforced(Policy policy, List<Charge> charges) {
        for (Charge charge : charges) {
            if (!charge.shadow() && charge.policy().policy().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }

    @Nullable
    public Policy policy(String name) {
        for (PolicyCost policyCost : policies) {
            if (policyCost.policy().name().equals(name)) {
                return policyCost.policy();
            }
        }
        return null;
    }

    /** Returns the charges of a call, of which the request has paid a part before. A policy that does not apply keeps its part. */
    public List<Charge> charges(List<Charge> parts) {
        return parts.stream()
                .map(part -> policies.stream()
                        .filter(each ->
                                each.policy().name().equals(part.policy().policy()))
                        .findFirst()
                        .map(each -> new Charge(part.policy(), part.storedKey(), each.cost()))
                        .orElse(part))
                .toList();
    }

    public FailureMode onFailure(String policy) {
        for (PolicyCost policyCost : policies) {
            if (policyCost.policy().name().equals(policy)) {
                return policyCost.policy().onFailure();
            }
        }
        return FailureMode.OPEN;
    }

    /** Tests whether a charge under a policy stays after the call has ended. */
    public boolean counts(String policy, boolean succeeded) {
        return policies.stream()
                .filter(policyCost -> policyCost.policy().name().equals(policy))
                .allMatch(policyCost -> policyCost.policy().count().counts(succeeded));
    }

    /**
     * The policies of a method, and the positions of its named arguments if a key uses one. The asynchrony is {@link Asynchrony#NONE} if a
     * call cannot continue on another thread.
     */
    public record OfMethod(Binding binding, Map<String, Integer> arguments, Asynchrony asynchrony) {}

    /** The way in which a method delivers its result after it has returned. */
    public enum Asynchrony {
        /** The result is delivered when the method returns, or in a way that no other code can take over. */
        NONE,
        /** The method returns a stage. */
        STAGE,
        /** The method of a resource resumes its parameter of the type {@code AsyncResponse}. */
        RESPONSE;

        /** The name of the type, because a server can have no Jakarta REST. */
        private static final String ASYNC_RESPONSE = "jakarta.ws.rs.container.AsyncResponse";

        public static Asynchrony of(Method method) {
            if (isStage(method.getReturnType())) {
                return STAGE;
            }
            boolean resumes = method.getReturnType() == void.class && position(method.getParameterTypes()) >= 0;
            return resumes ? RESPONSE : NONE;
        }

        /** Tests whether a failed stage can be the result of a method. A subclass of {@link CompletableFuture} has no such object. */
        public static boolean isStage(Class<?> result) {
            return CompletionStage.class.isAssignableFrom(result) && result.isAssignableFrom(CompletableFuture.class);
        }

        /** Returns the position of the parameter with the response, -1 if there is none. */
        public static int position(Class<?>... parameters) {
            return Arrays.stream(parameters).map(Class::getName).toList().indexOf(ASYNC_RESPONSE);
        }
    }
}
