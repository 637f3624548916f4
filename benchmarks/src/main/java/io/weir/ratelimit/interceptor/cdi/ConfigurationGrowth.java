// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.benchmarks.comparison.GrowthOptions;
import io.weir.ratelimit.benchmarks.comparison.GrowthRow;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/** The times of the start, of a reload and of a request, by the number of policies in the configuration. */
public final class ConfigurationGrowth {
    private static final List<Integer> POLICIES = List.of(10, 100, 1_000);
    private static final List<Integer> QUICK_POLICIES = List.of(10, 50, 100);
    private static final int REQUESTS = 2_000;

    private final Map<String, String> properties = new TreeMap<>();
    private final Config config;
    private final int policies;

    private ConfigurationGrowth(int policies) {
        this.policies = policies;
        for (int i = 0; i < policies; i++) {
            properties.put(property(i, "limit"), "100/1m, 1000/1h");
            properties.put(property(i, "key"), "header:x-client | ip");
            properties.put(property(i, "algorithm"), "token-bucket");
            properties.put(property(i, "paths"), "/api/v1/part" + i + "/*");
        }
        config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new Source(properties))
                .build();
    }

    private static String property(int policy, String attribute) {
        return "ratelimit.policies.policy-" + policy + "." + attribute;
    }

    private record Source(Map<String, String> properties) implements ConfigSource {
        @Override
        public Set<String> getPropertyNames() {
            return properties.keySet();
        }

        @Override
        public @Nullable String getValue(String name) {
            return properties.get(name);
        }

        @Override
        public String getName() {
            return "growth";
        }
    }

    /**
     * The times of one configuration in milliseconds, and of a request in microseconds.
     *
     * @param start reading and checking all policies
     * @param unchanged a reload that finds no change
     * @param changed a reload that finds one changed policy
     * @param request finding the policies of a request by its path
     */
    private record Times(double start, double unchanged, double changed, double request) {}

    /** Measures each number of policies, the largest first, and returns the rows. */
    public static List<GrowthRow> measure(GrowthOptions options) {
        List<Integer> sizes = options.sizes(POLICIES, QUICK_POLICIES);
        double[] first = new double[sizes.size()];
        Times[] times = new Times[sizes.size()];
        for (int i = sizes.size() - 1; i >= 0; i--) {
            List<Times> rounds = new ArrayList<>();
            ConfigurationGrowth growth = new ConfigurationGrowth(sizes.get(i));
            for (int round = 0; round <= options.rounds(); round++) {
                rounds.add(growth.times());
            }
            first[i] = i == sizes.size() - 1 ? rounds.get(0).start : Double.NaN;
            List<Times> warm = rounds.subList(1, rounds.size());
            times[i] = new Times(
                    median(warm.stream().mapToDouble(Times::start).toArray()),
                    median(warm.stream().mapToDouble(Times::unchanged).toArray()),
                    median(warm.stream().mapToDouble(Times::changed).toArray()),
                    median(warm.stream().mapToDouble(Times::request).toArray()));
        }
        String name = String.format(
                Locale.ROOT, "%,d, %,d, %,d policies in configuration", sizes.get(0), sizes.get(1), sizes.get(2));
        List<Times> all = List.of(times);
        return List.of(
                new GrowthRow(
                        name,
                        "start of a new process, ms",
                        Arrays.stream(first).boxed().toList()),
                new GrowthRow(name, "start, ms", all.stream().map(Times::start).toList()),
                new GrowthRow(
                        name,
                        "reload without a change, ms",
                        all.stream().map(Times::unchanged).toList()),
                new GrowthRow(
                        name,
                        "reload of one changed policy, ms",
                        all.stream().map(Times::changed).toList()),
                new GrowthRow(
                        name,
                        "policies of a request by its path, µs",
                        all.stream().map(Times::request).toList()));
    }

    private Times times() {
        properties.put(property(policies / 2, "limit"), "100/1m, 1000/1h");
        long start = System.nanoTime();
        Problems problems = new Problems();
        PolicySnapshotLoader loader = new PolicySnapshotLoader(
                new AnnotationScanner(MethodNames.of(Set.of()), problems).scan(Set.of()),
                new AnnotationScanner(MethodNames.of(Set.of()), new Problems()),
                new Resolvers(new KeyTerms(32, 64), Map.of()),
                Set.of());
        CurrentConfig current = CurrentConfig.of(config);
        ConfigSnapshot loaded = new ConfigSnapshot(current.first());
        PolicySnapshot first = loader.load(loaded, problems);
        double startMillis = millisSince(start);
        require(problems.found().isEmpty() && first.policies().size() == policies);
        List<PolicySnapshot> received = new ArrayList<>();
        Reload reload = new Reload(
                loader, current, loaded, first, received::add, result -> {}, new Readings(Clock.systemUTC()));
        start = System.nanoTime();
        reload.run();
        double unchangedMillis = millisSince(start);
        require(received.isEmpty());
        properties.put(property(policies / 2, "limit"), "200/1m, 1000/1h");
        start = System.nanoTime();
        reload.run();
        double changedMillis = millisSince(start);
        require(received.size() == 1);
        return new Times(startMillis, unchangedMillis, changedMillis, requestMicros(received.get(0)));
    }

    private double requestMicros(PolicySnapshot snapshot) {
        long start = System.nanoTime();
        for (int i = 0; i < REQUESTS; i++) {
            RequestPath path = RequestPath.of("/api/v1/part" + i % policies + "/orders");
            require(snapshot.paths()
                            .join(Binding.NONE, "GET", () -> path)
                            .policies()
                            .size()
                    == 1);
        }
        return 1e3 * millisSince(start) / REQUESTS;
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new IllegalStateException("the policies are not as expected");
        }
    }

    private static double millisSince(long start) {
        return (System.nanoTime() - start) / 1e6;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
