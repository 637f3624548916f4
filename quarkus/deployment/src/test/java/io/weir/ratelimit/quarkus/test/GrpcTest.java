// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import grpc.health.v1.HealthGrpc;
import grpc.health.v1.HealthOuterClass.HealthCheckRequest;
import grpc.health.v1.HealthOuterClass.HealthCheckResponse;
import io.grpc.stub.StreamObserver;
import io.quarkus.grpc.GrpcService;
import io.quarkus.test.QuarkusUnitTest;
import io.smallrye.common.annotation.Blocking;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitUnavailableException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A service with stream observers, on a worker thread and on an event loop. */
class GrpcTest extends GrpcContract {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = application(Service.class);

    @GrpcService
    public static class Service extends HealthGrpc.HealthImplBase {
        @Override
        @Blocking
        @RateLimit("calls")
        public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
            response.onNext(HealthCheckResponse.getDefaultInstance());
            response.onCompleted();
        }

        @Override
        @RateLimit("calls")
        public void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
            if (request.getService().equals(WITHOUT_BACKEND)) {
                throw new RateLimitUnavailableException("timeout", RETRY);
            }
            response.onNext(HealthCheckResponse.getDefaultInstance());
            response.onNext(HealthCheckResponse.getDefaultInstance());
            response.onCompleted();
        }
    }
}
