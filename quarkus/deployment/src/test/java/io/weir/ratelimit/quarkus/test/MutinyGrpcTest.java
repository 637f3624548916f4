// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import grpc.health.v1.HealthOuterClass.HealthCheckRequest;
import grpc.health.v1.HealthOuterClass.HealthCheckResponse;
import grpc.health.v1.MutinyHealthGrpc;
import io.quarkus.grpc.GrpcService;
import io.quarkus.test.QuarkusUnitTest;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.fixtures.TestPorts;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A service that returns a {@code Uni} and a {@code Multi}, on the server for gRPC that Quarkus has by default. */
class MutinyGrpcTest extends GrpcContract {
    /** Two class loaders load this class, and both use one port. */
    private static final int PORT =
            (int) System.getProperties().computeIfAbsent(MutinyGrpcTest.class.getName(), unused -> TestPorts.next());

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application(Service.class, PORT);

    @Override
    int port() {
        return PORT;
    }

    /** The service does not know when to retry. */
    @Override
    Duration retry() {
        return Duration.ofSeconds(1);
    }

    @GrpcService
    public static class Service extends MutinyHealthGrpc.HealthImplBase {
        @Override
        @RateLimit("calls")
        public Uni<HealthCheckResponse> check(HealthCheckRequest request) {
            return Uni.createFrom().item(HealthCheckResponse.getDefaultInstance());
        }

        @Override
        @RateLimit("calls")
        public Multi<HealthCheckResponse> watch(HealthCheckRequest request) {
            return request.getService().equals(WITHOUT_BACKEND)
                    ? Multi.createFrom().failure(new RateLimitUnavailableException("timeout", Duration.ZERO))
                    : Multi.createFrom()
                            .items(HealthCheckResponse.getDefaultInstance(), HealthCheckResponse.getDefaultInstance());
        }
    }
}
