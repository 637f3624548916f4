// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import com.google.protobuf.Any;
import com.google.rpc.RetryInfo;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.quarkus.grpc.GlobalInterceptor;
import io.quarkus.grpc.runtime.Interceptors;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.response.RejectionProblems;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.spi.Prioritized;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The status of rejected calls of gRPC: {@code RESOURCE_EXHAUSTED}, or {@code UNAVAILABLE} without a backend. The wait is the {@code
 * RetryInfo} of the status.
 */
@GlobalInterceptor
@ApplicationScoped
public class GrpcRejections implements ServerInterceptor, Prioritized {
    /** Causes can form a circle. */
    private static final int MAX_CAUSES = 10;

    /** It sees the status that the exception handlers of Quarkus and of the application determine. */
    @Override
    public int getPriority() {
        return Interceptors.EXCEPTION_HANDLER + 1;
    }

    @Override
    public <Q, S> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, S> call, Metadata headers, ServerCallHandler<Q, S> next) {
        return next.startCall(
                new SimpleForwardingServerCall<>(call) {
                    @Override
                    public void close(Status status, Metadata trailers) {
                        StatusRuntimeException rejection = rejection(status.getCause());
                        if (rejection == null || status.getCode() != Status.Code.UNKNOWN) {
                            super.close(status, trailers);
                            return;
                        }
                        Metadata details = rejection.getTrailers();
                        if (details != null) {
                            trailers.merge(details);
                        }
                        super.close(rejection.getStatus(), trailers);
                    }
                },
                headers);
    }

    /** Returns the rejection among the causes, null if there is none. The application has mapped an exception with another status. */
    private static @Nullable StatusRuntimeException rejection(@Nullable Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < MAX_CAUSES; i++, cause = cause.getCause()) {
            if (cause instanceof RateLimitExceededException exceeded) {
                return rejection(Status.Code.RESOURCE_EXHAUSTED, exceeded, exceeded.retryAfter());
            }
            if (cause instanceof RateLimitUnavailableException unavailable) {
                Duration wait = Duration.ofSeconds(RejectionProblems.unavailableSeconds(unavailable.retryAfter()));
                return rejection(Status.Code.UNAVAILABLE, unavailable, Optional.of(wait));
            }
        }
        return null;
    }

    private static StatusRuntimeException rejection(Status.Code code, Exception exception, Optional<Duration> wait) {
        com.google.rpc.Status.Builder status =
                com.google.rpc.Status.newBuilder().setCode(code.value()).setMessage(exception.getMessage());
        wait.ifPresent(duration -> status.addDetails(Any.pack(RetryInfo.newBuilder()
                .setRetryDelay(com.google.protobuf.Duration.newBuilder()
                        .setSeconds(duration.getSeconds())
                        .setNanos(duration.getNano()))
                .build())));
        return StatusProto.toStatusRuntimeException(status.build());
    }
}
