// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.noservlet;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.fixtures.PinnedThreads;
import io.weir.ratelimit.fixtures.VirtualThreads;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Request threads while the filter and the interceptor ask the backend: they hold no monitor of Weir, and virtual ones release their carrier. */
class RequestThreadsTest {
    private static final Map<String, String> POLICIES = Map.ofEntries(
            entry("ratelimit.backend", "waiting"),
            entry("ratelimit.policies.search.limit", "100000/1h"),
            entry("ratelimit.policies.search.key", "ip"),
            entry("ratelimit.policies.zone.limit", "100000/1h"),
            entry("ratelimit.policies.zone.key", "ip"),
            entry("ratelimit.policies.zone.paths", "/api/zone/*"),
            entry("ratelimit.policies.flood.limit", "100000/1h"),
            entry("ratelimit.policies.flood.key", "ip"),
            entry("ratelimit.policies.flood.paths", "/api/stock"),
            entry("ratelimit.policies.flood.phase", "early"),
            entry("ratelimit.policies.bean.limit", "100000/1h"));

    private static final List<String> PATHS = List.of("/api/search", "/api/zone/open", "/api/stock");

    /** The policies that the filters and the interceptor decide. */
    private static final Set<String> DECIDED = Set.of("search", "zone", "flood", "bean");

    @BeforeAll
    static void requireNoServletApi() {
        assumeFalse(OptionalApi.SERVLET.isVisible(), "the execution no-servlet of Surefire runs this test");
    }

    @Path("")
    @RequestScoped
    public static class Shop {
        @Inject
        Stock stock;

        @GET
        @Path("search")
        @RateLimit("search")
        public String search() {
            return "found";
        }

        @GET
        @Path("zone/open")
        public String zone() {
            return "open";
        }

        @GET
        @Path("stock")
        public String stock() {
            return stock.count();
        }
    }

    @ApplicationScoped
    public static class Stock {
        @RateLimit("bean")
        public String count() {
            return "7";
        }
    }

    /** A backend that waits, as one on the network does, and records the monitors of its callers. */
    @ApplicationScoped
    public static class WaitingBackend implements RateLimitBackend {
        static final List<String> MONITORS = new CopyOnWriteArrayList<>();
        static final Set<String> POLICIES_ASKED = ConcurrentHashMap.newKeySet();
        static final Set<Boolean> VIRTUAL = ConcurrentHashMap.newKeySet();

        private final RateLimitBackend local = new LocalBackend(1_000);

        @Override
        public String name() {
            return "waiting";
        }

        @Override
        public boolean isConfigured() {
            return true;
        }

        private void await(List<Charge> charges) {
            charges.forEach(charge -> POLICIES_ASKED.add(charge.policy().policy()));
            Thread caller = Thread.currentThread();
            VIRTUAL.add(VirtualThreads.isVirtual(caller));
            ThreadInfo info =
                    ManagementFactory.getThreadMXBean().getThreadInfo(new long[] {caller.getId()}, true, false)[0];
            if (info != null) {
                Stream.of(info.getLockedMonitors())
                        .forEach(monitor -> MONITORS.add(
                                monitor + " in " + monitor.getLockedStackFrame().getClassName()));
            }
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            await(charges);
            return local.acquire(charges);
        }

        @Override
        public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
            return local.acquireAsync(charges);
        }

        @Override
        public List<Quota> peek(List<Charge> charges) {
            await(charges);
            return local.peek(charges);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            return local.refund(receipt);
        }

        @Override
        public CompletionStage<Void> refund(Charge charge) {
            return local.refund(charge);
        }

        @Override
        public void reset(List<PolicyLimits> limits, String storedKey) {
            local.reset(limits, storedKey);
        }
    }

    @Test
    void requestThreadsHoldNoMonitorOfWeir() throws Exception {
        WaitingBackend.MONITORS.clear();
        WaitingBackend.POLICIES_ASKED.clear();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (RestServer server = RestServer.start(POLICIES, threads, Shop.class, Stock.class, WaitingBackend.class)) {
            for (String path : PATHS) {
                assertThat(server.get(path).status()).isEqualTo(200);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(WaitingBackend.POLICIES_ASKED).isEqualTo(DECIDED);
        assertThat(WaitingBackend.MONITORS).noneMatch(monitor -> monitor.contains(" in io.weir."));
    }

    @Test
    @Tag("threads")
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21")
    void virtualRequestThreadsReleaseTheirCarrier() throws Exception {
        WaitingBackend.POLICIES_ASKED.clear();
        try (RestServer server = RestServer.start(
                POLICIES,
                task -> VirtualThreads.factory().newThread(task).start(),
                Shop.class,
                Stock.class,
                WaitingBackend.class)) {
            // The first requests load classes: those of a new key, and then those of a known one. A thread that waits
            // for a class is pinned.
            for (int i = 0; i < 3; i++) {
                PATHS.forEach(server::get);
            }
            WaitingBackend.VIRTUAL.clear();
            try (PinnedThreads pinned = PinnedThreads.recording()) {
                assertThat(statuses(server, 100)).containsOnly(200);
                assertThat(pinned.through(WaitingBackend.class.getName())).isEmpty();
            }
        }
        assertThat(WaitingBackend.POLICIES_ASKED).isEqualTo(DECIDED);
        assertThat(WaitingBackend.VIRTUAL).containsExactly(true);
    }

    private static List<Integer> statuses(RestServer server, int requests) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(16);
        try {
            List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                String path = PATHS.get(i % PATHS.size());
                all.add(clients.submit(() -> server.get(path).status()));
            }
            List<Integer> statuses = new ArrayList<>();
            for (Future<Integer> each : all) {
                statuses.add(each.get(60, TimeUnit.SECONDS));
            }
            return statuses;
        } finally {
            clients.shutdownNow();
        }
    }
}
