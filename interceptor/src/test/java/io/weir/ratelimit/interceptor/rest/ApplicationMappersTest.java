// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ContextResolver;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.MessageBodyReader;
import jakarta.ws.rs.ext.MessageBodyWriter;
import jakarta.ws.rs.ext.Providers;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.util.Optional;
import org.glassfish.jersey.model.internal.CommonConfig;
import org.glassfish.jersey.model.internal.ComponentBag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApplicationMappersTest {
    private final RateLimitUnavailableException exception = new RateLimitUnavailableException("timeout");

    private Optional<Response> by(@Nullable ExceptionMapper<RateLimitUnavailableException> mapper) {
        return new ApplicationMappers(() -> new OneMapper(mapper), () -> null).response(exception);
    }

    @Test
    void asksTheMapperOfTheApplication() {
        Response own = Response.status(503).build();
        assertThat(by(mapped -> mapped == exception ? own : null)).containsSame(own);
    }

    @Test
    void ignoresTheMapperOfWeirAndAMapperWithoutAResponse() {
        assertThat(by(new UnavailableMapper())).isEmpty();
        assertThat(by(null)).isEmpty();
        assertThat(by(mapped -> null)).isEmpty();
        assertThat(new ApplicationMappers(() -> null, () -> null).response(exception))
                .isEmpty();
    }

    @Test
    void throwsForAMapperThatOnlyTheServerFinds() {
        CommonConfig config = new CommonConfig(RuntimeType.SERVER, ComponentBag.INCLUDE_ALL);
        config.register(UnavailableMapper.class);
        config.register(OfAll.class);
        assertThat(configuredBy(config).response(exception)).isEmpty();

        config.register(Hidden.class);
        assertThatThrownBy(() -> configuredBy(config).response(exception)).isSameAs(exception);
    }

    private static ApplicationMappers configuredBy(CommonConfig config) {
        return new ApplicationMappers(() -> new OneMapper(new UnavailableMapper()), () -> config);
    }

    /** A mapper of the application. */
    public static class Hidden implements ExceptionMapper<RateLimitUnavailableException> {
        @Override
        public Response toResponse(RateLimitUnavailableException mapped) {
            return Response.noContent().build();
        }
    }

    /** A mapper of the application for all runtime exceptions. */
    public static class OfAll implements ExceptionMapper<RuntimeException> {
        @Override
        public Response toResponse(RuntimeException mapped) {
            return Response.noContent().build();
        }
    }

    private record OneMapper(@Nullable ExceptionMapper<RateLimitUnavailableException> mapper) implements Providers {
        @Override
        @SuppressWarnings("unchecked")
        public <T extends Throwable> @Nullable ExceptionMapper<T> getExceptionMapper(Class<T> type) {
            return type == RateLimitUnavailableException.class ? (ExceptionMapper<T>) mapper : null;
        }

        @Override
        public <T> @Nullable MessageBodyReader<T> getMessageBodyReader(
                Class<T> type, Type generic, Annotation[] annotations, MediaType media) {
            return null;
        }

        @Override
        public <T> @Nullable MessageBodyWriter<T> getMessageBodyWriter(
                Class<T> type, Type generic, Annotation[] annotations, MediaType media) {
            return null;
        }

        @Override
        public <T> @Nullable ContextResolver<T> getContextResolver(Class<T> type, MediaType media) {
            return null;
        }
    }
}
