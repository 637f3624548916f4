// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.runtime.Preparation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The plug-in that limits outgoing calls. */
public final class ClientPlugin implements Plugin {
    private final Map<String, String> annotated = new TreeMap<>();
    private Map<String, OutgoingClient> clients = Map.of();
    private @Nullable ConfigProperties config;
    private volatile @Nullable Running running;

    private record Running(HostedWeir weir, OutgoingCalls calls) {}

    @Override
    public Set<String> properties() {
        return ConfigKeys.ofArtifact("weir-client");
    }

    @Override
    public void prepare(Preparation preparation) {
        config = preparation.config();
        preparation
                .platform()
                .all(AnnotatedClients.class)
                .forEach(
                        each -> each.types().forEach((name, type) -> annotated.merge(name, type, ClientPlugin::first)));
        clients = ClientReader.read(preparation.config(), annotated, preparation.resolvers(), preparation.problems());
    }

    private static String first(String one, String other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    @Override
    public List<MethodLimits> endpoints() {
        return clients.values().stream().map(OutgoingClient::limits).toList();
    }

    @Override
    public void check(Policy policy, ConfigProperties ofPolicy, Problems problems) {
        ClientPolicyCheck.check(clients.values(), Map.of(policy.name(), policy), ofPolicy, problems);
    }

    @Override
    public void start(HostedWeir weir) {
        Sleeper clock = weir.clock();
        OutgoingCalls calls = new OutgoingCalls(
                weir.settings().enabled(),
                clients,
                weir::instances,
                () -> weir.policies().policies(),
                weir.engine(),
                weir.limiter(),
                listener(weir),
                clock::nanos,
                clock::now);
        running = new Running(weir, calls);
    }

    private static OutgoingListener listener(HostedWeir weir) {
        OutgoingListener metrics = weir.telemetry()
                .meters()
                .<OutgoingListener>map(OutgoingMetrics::new)
                .orElse(OutgoingListener.NONE);
        return new OutgoingListener() {
            @Override
            public void paused(String client, Cause cause) {
                metrics.paused(client, cause);
            }

            @Override
            public void stored(String policy, String storedKey, Duration rest) {
                weir.callers().paused(policy, storedKey, rest);
            }

            @Override
            public void retried(String client, boolean allowed) {
                metrics.retried(client, allowed);
            }
        };
    }

    @Override
    public List<MessageCatalog.Message> warnings(PolicySnapshot first, ApplicationView view) {
        return config == null ? List.of() : new ClientWarnings(clients, annotated.keySet(), config).all(first, view);
    }

    /** Returns the path of the calls of REST clients. Throws an {@link IllegalStateException} if the deployment has not ended. */
    public OutgoingCalls calls() {
        return running().calls;
    }

    /** Returns the incoming request that the current thread serves, empty if the thread serves none. */
    public Optional<RequestState> currentRequest() {
        return running().weir.currentRequest();
    }

    private Running running() {
        Running started = running;
        if (started == null) {
            throw new IllegalStateException("the deployment of rate limits has not ended");
        }
        return started;
    }
}
