// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The charges of several calls that are decided as one. Calls with the same key under a policy share one charge with the sum of their
 * costs, because a backend evaluates the charges of a decision independently. They take no slots, because nobody learns when the calls end.
 */
final class JointCharges {
    private final Charges charges;
    private final List<RateLimitEngine.JointCall> calls;

    /** The positions of the charges of each call. */
    private List<List<Integer>> positions = List.of();

    private record Place(String policy, String storedKey) {}

    JointCharges(Charges charges, List<RateLimitEngine.JointCall> calls) {
        this.charges = charges;
        this.calls = List.copyOf(calls);
    }

    /** Returns the policies of all calls, each once. */
    Binding binding(String endpoint) {
        Map<String, Binding.PolicyCost> policies = new LinkedHashMap<>();
        calls.forEach(call -> call.policies()
                .forEach(each -> policies.putIfAbsent(each.policy().name(), each)));
        return new Binding(endpoint, List.copyOf(policies.values()));
    }

    /** Returns the properties of the first call under a policy. */
    CallContext first(String policy) {
        return calls.stream()
                .filter(call -> call.policies().stream()
                        .anyMatch(each -> each.policy().name().equals(policy)))
                .findFirst()
                .map(RateLimitEngine.JointCall::properties)
                .orElse(CallContext.NONE);
    }

    /** Resolves the charges, none of which waits. */
    List<Charge> resolve() {
        Map<Place, Integer> known = new HashMap<>();
        List<Charge> all = new ArrayList<>();
        List<List<Integer>> ofCalls = new ArrayList<>();
        for (RateLimitEngine.JointCall call : calls) {
            List<Integer> ofCall = new ArrayList<>();
            for (Charge charge : withoutSlots(charges.of(new Binding("", call.policies()), call.properties(), null))) {
                Place place = new Place(charge.policy().policy(), charge.storedKey());
                int position = known.computeIfAbsent(place, first -> all.size());
                if (position == all.size()) {
                    all.add(charge);
                } else {
                    all.set(position, sum(all.get(position), charge));
                }
                ofCall.add(position);
            }
            ofCalls.add(List.copyOf(ofCall));
        }
        positions = List.copyOf(ofCalls);
        return List.copyOf(all);
    }

    /** Returns the charges without concurrency limits, which the limits of a single key can have. */
    private static List<Charge> withoutSlots(List<Charge> all) {
        return all.stream()
                .flatMap(charge -> charge.policy().hasConcurrency()
                        ? charge.policy().withoutConcurrency().stream()
                                .map(rest -> new Charge(rest, charge.storedKey(), charge.cost(), 0, charge.shadow()))
                        : Stream.of(charge))
                .toList();
    }

    private static Charge sum(Charge one, Charge other) {
        long cost = Math.min(Limit.MAX_PERMITS, one.cost() + other.cost());
        return new Charge(one.policy(), one.storedKey(), cost, 0, one.shadow());
    }

    /** Returns the results of each call, which are empty if no limit was evaluated. */
    List<List<ChargeResult>> results(Decision decision) {
        List<ChargeResult> results = decision.results();
        return positions.stream()
                .map(ofCall -> ofCall.stream()
                        .filter(position -> position < results.size())
                        .map(results::get)
                        .toList())
                .toList();
    }
}
