// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.annotation.Priority;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.glassfish.jersey.spi.ExtendedExceptionMapper;

/** The mappers of wrapped rejections on Jersey, which asks a mapper whether it maps an exception, and otherwise continues without it. */
final class JerseyWrappedMapper {
    private JerseyWrappedMapper() {}

    /** The mapper of results of {@code CompletableFuture.join()}. */
    @Priority(Integer.MAX_VALUE)
    public static class OfJoin extends WrappedMapper.OfJoin implements ExtendedExceptionMapper<CompletionException> {}

    /** The mapper of results of {@code Future.get()}. */
    @Priority(Integer.MAX_VALUE)
    public static class OfGet extends WrappedMapper.OfGet implements ExtendedExceptionMapper<ExecutionException> {}
}
