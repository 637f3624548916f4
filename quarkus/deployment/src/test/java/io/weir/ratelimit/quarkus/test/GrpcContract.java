// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.rpc.RetryInfo;
import grpc.health.v1.HealthGrpc;
import grpc.health.v1.HealthOuterClass.HealthCheckRequest;
import grpc.health.v1.HealthOuterClass.HealthCheckResponse;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import java.net.URI;
import java.time.Duration;
import java.util.Iterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The responses to a client of a limited gRPC service. The service is a usual one with generated classes, a unary and a streaming method. */
abstract class GrpcContract {
    /** The request for which a service has no backend. */
    static final String WITHOUT_BACKEND = "without backend";

    static final Duration RETRY = Duration.ofSeconds(3);

    @TestHTTPResource
    URI base;

    private ManagedChannel channel;
    private HealthGrpc.HealthBlockingStub client;

    /** Returns an application whose gRPC server is the HTTP server. */
    static QuarkusUnitTest application(Class<?> service) {
        return withServer(service).overrideConfigKey("quarkus.grpc.server.use-separate-server", "false");
    }

    /** Returns an application whose gRPC server is another one, as by default. */
    static QuarkusUnitTest application(Class<?> service, int port) {
        return withServer(service).overrideConfigKey("quarkus.grpc.server.test-port", Integer.toString(port));
    }

    private static QuarkusUnitTest withServer(Class<?> service) {
        return new QuarkusUnitTest()
                .withApplicationRoot(jar -> jar.addClasses(service, GrpcContract.class))
                .overrideConfigKey("quarkus.grpc.server.grpc-health.enabled", "false")
                .overrideConfigKey("ratelimit.policies.calls.limit", "2/1h")
                .overrideConfigKey("ratelimit.policies.calls.key", "method")
                .overrideConfigKey("ratelimit.policies.calls.algorithm", "sliding-log");
    }

    @BeforeEach
    void connect() {
        channel = ManagedChannelBuilder.forAddress(base.getHost(), port())
                .usePlaintext()
                .build();
        client = HealthGrpc.newBlockingStub(channel);
    }

    @AfterEach
    void close() {
        channel.shutdownNow();
    }

    /** Returns the port of the gRPC server. */
    int port() {
        return base.getPort();
    }

    /** Returns the wait of a call without a backend. */
    Duration retry() {
        return RETRY;
    }

    private static HealthCheckRequest request(String service) {
        return HealthCheckRequest.newBuilder().setService(service).build();
    }

    @Test
    void theThirdCallIsRejectedWithTheWait() throws Exception {
        assertThat(client.check(request("a"))).isEqualTo(HealthCheckResponse.getDefaultInstance());
        assertThat(client.check(request("a"))).isEqualTo(HealthCheckResponse.getDefaultInstance());
        StatusRuntimeException rejection =
                catchThrowableOfType(StatusRuntimeException.class, () -> client.check(request("a")));
        assertThat(rejection.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(rejection.getStatus().getDescription()).startsWith("rate limit exceeded: calls; retry after 3");
        assertThat(wait(rejection)).isBetween(Duration.ofMinutes(50), Duration.ofHours(1));
    }

    @Test
    void theThirdStreamIsRejectedAndACallWithoutABackendIsUnavailable() throws Exception {
        StatusRuntimeException failure = failure(client.watch(request(WITHOUT_BACKEND)));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(wait(failure)).isEqualTo(retry());
        Iterator<HealthCheckResponse> stream = client.watch(request("a"));
        assertThat(stream).toIterable().hasSize(2);
        StatusRuntimeException rejection = failure(client.watch(request("a")));
        assertThat(rejection.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    private static StatusRuntimeException failure(Iterator<HealthCheckResponse> call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::hasNext);
    }

    private static Duration wait(StatusRuntimeException rejection) throws Exception {
        RetryInfo info =
                StatusProto.fromThrowable(rejection).getDetailsList().get(0).unpack(RetryInfo.class);
        return Duration.ofSeconds(
                info.getRetryDelay().getSeconds(), info.getRetryDelay().getNanos());
    }
}
