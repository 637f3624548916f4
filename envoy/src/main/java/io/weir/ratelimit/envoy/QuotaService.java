// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaServiceGrpc;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.runtime.HostedWeir;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The quota service of Envoy. A proxy reports the use of its buckets, and gets leases of permits that are charged before. */
final class QuotaService extends RateLimitQuotaServiceGrpc.RateLimitQuotaServiceImplBase {
    private final HostedWeir weir;
    private final Selection selection;
    private final Set<QuotaStream> streams = ConcurrentHashMap.newKeySet();

    QuotaService(HostedWeir weir, EnvoyPlugin plugin) {
        this.weir = weir;
        this.selection = new Selection(() -> weir.policies().policies(), plugin::config);
        plugin.repeat(this::push);
    }

    @Override
    public StreamObserver<RateLimitQuotaUsageReports> streamRateLimitQuotas(
            StreamObserver<RateLimitQuotaResponse> observer) {
        QuotaStream stream = new QuotaStream(weir, selection, observer, streams);
        if (observer instanceof ServerCallStreamObserver<RateLimitQuotaResponse> call) {
            // Without a handler, a message to a proxy that has left is an exception.
            call.setOnCancelHandler(stream::end);
        }
        streams.add(stream);
        return stream;
    }

    /** Sends new assignments for the buckets whose policies have changed. */
    void push() {
        streams.forEach(QuotaStream::push);
    }
}
