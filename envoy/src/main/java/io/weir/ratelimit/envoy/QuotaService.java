// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaServiceGrpc;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.envoy.config.EnvoyConfig;
import io.weir.ratelimit.runtime.HostedWeir;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The quota service of Envoy. A proxy reports the use of its buckets, and gets leases of permits that are charged before. */
final class QuotaService extends RateLimitQuotaServiceGrpc.RateLimitQuotaServiceImplBase {
    private final HostedWeir weir;
    private final EnvoyPlugin plugin;
    private final Selection selection;
    private final Set<QuotaStream> streams = ConcurrentHashMap.newKeySet();

    /** The policies and the files at the last update of the streams. */
    private Map<String, Policy> policies = Map.of();

    private EnvoyConfig files = EnvoyConfig.NONE;

    QuotaService(HostedWeir weir, EnvoyPlugin plugin) {
        this.weir = weir;
        this.plugin = plugin;
        this.selection = new Selection(() -> weir.policies().policies(), plugin::config);
        plugin.repeat(this::update);
    }

    @Override
    public StreamObserver<RateLimitQuotaUsageReports> streamRateLimitQuotas(
            StreamObserver<RateLimitQuotaResponse> observer) {
        QuotaStream stream =
                new QuotaStream(weir, selection, (ServerCallStreamObserver<RateLimitQuotaResponse>) observer, streams);
        stream.start();
        return stream;
    }

    /** Removes idle buckets, and sends new assignments for those whose policies have changed. */
    @SuppressWarnings("ReferenceEquality") // a change replaces the object
    synchronized void update() {
        Map<String, Policy> currentPolicies = weir.policies().policies();
        EnvoyConfig currentFiles = plugin.config(currentPolicies);
        boolean changed = currentPolicies != policies || currentFiles != files;
        policies = currentPolicies;
        files = currentFiles;
        streams.forEach(stream -> stream.update(changed));
    }

    /** Ends all streams. The proxies open new ones, which another instance serves. */
    void close() {
        streams.forEach(QuotaStream::onCompleted);
    }
}
