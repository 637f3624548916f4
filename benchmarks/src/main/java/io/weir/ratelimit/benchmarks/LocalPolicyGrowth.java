// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.comparison.GrowthOptions;
import io.weir.ratelimit.benchmarks.comparison.GrowthRow;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The cost of a decision in process by the number of policies of a request, and by the number of limits of its policy. */
final class LocalPolicyGrowth {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int CALLERS = 1_000;
    private static final int WARM_UP = 10;
    private static final int ROUNDS = 31;
    private static final int DECISIONS = 2_000;
    private static final long UNREACHABLE = 1_000_000_000;

    private LocalPolicyGrowth() {}

    static List<GrowthRow> measure(GrowthOptions options) {
        int rounds = options.quick() ? 5 : ROUNDS;
        return List.of(
                row(
                        "1, 10, 50 policies on one request, in process",
                        IntStream.of(1, 10, 50)
                                .mapToObj(count -> binding(count, 1))
                                .toList(),
                        rounds),
                row(
                        "1, 3, 8 limits of one policy, in process",
                        IntStream.of(1, 3, 8)
                                .mapToObj(count -> binding(1, count))
                                .toList(),
                        rounds));
    }

    private static GrowthRow row(String sizes, List<Binding> bindings, int rounds) {
        RateLimitEngine engine = LocalEngines.engine(List.of());
        double[][] micros = new double[bindings.size()][rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
            for (int i = 0; i < bindings.size(); i++) {
                double turn = turn(engine, bindings.get(i));
                if (round >= 0) {
                    micros[i][round] = turn;
                }
            }
        }
        return new GrowthRow(
                sizes,
                "processor of a decision, µs",
                Arrays.stream(micros).map(LocalPolicyGrowth::median).toList());
    }

    private static double turn(RateLimitEngine engine, Binding binding) {
        long start = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < DECISIONS; i++) {
            String caller = "10.1." + i % CALLERS / 256 + "." + i % 256;
            if (!engine.decide(binding, new LocalEngines.AddressCall(caller), null)
                    .allowed()) {
                throw new IllegalStateException("no call must be rejected");
            }
        }
        return (THREADS.getCurrentThreadCpuTime() - start) / 1e3 / DECISIONS;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private static Binding binding(int policies, int limits) {
        List<Limit> all = IntStream.rangeClosed(1, limits)
                .<Limit>mapToObj(hours -> Limit.of(Algorithm.SLIDING_WINDOW, UNREACHABLE, Duration.ofHours(hours)))
                .toList();
        List<Binding.PolicyCost> costs = new ArrayList<>();
        for (int i = 0; i < policies; i++) {
            Policy policy = Policy.builder(
                            new PolicyLimits("policy-" + limits + "-" + i, all),
                            KeyExpression.parse("ip", new KeyTerms(32, 64)))
                    .build();
            costs.add(new Binding.PolicyCost(policy, 1));
        }
        return new Binding("Growth.call", costs);
    }
}
