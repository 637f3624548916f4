// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.ejb.EJBException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.MessageBodyWriter;
import jakarta.ws.rs.ext.Provider;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rejections that other code has wrapped or that other code writes. Surefire runs this test with Jersey and with RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.work.limit=1/1h",
            "ratelimit.policies.work.algorithm=fixed-window",
            "ratelimit.policies.closed.limit=9/1h",
            "ratelimit.policies.closed.on-failure=closed"
        },
        beans = {
            RestWrappedTest.Waits.class,
            RestWrappedTest.Work.class,
            RestWrappedTest.RuntimeMapper.class,
            RestWrappedTest.QuotingWriter.class
        })
class RestWrappedTest {
    private RestRuntime rest;

    /** An exception of the application that wraps others. */
    private static final class OwnException extends CompletionException {
        private static final long serialVersionUID = 1;

        OwnException(Throwable cause) {
            super(cause);
        }
    }

    @ApplicationScoped
    public static class Work {
        @RateLimit("work")
        public String limited() {
            return "done";
        }

        @RateLimit("closed")
        public String closed() {
            return "done";
        }
    }

    @Path("waits")
    @RequestScoped
    @Produces(MediaType.TEXT_PLAIN)
    public static class Waits {
        @Inject
        Work work;

        @Inject
        RateLimiter limiter;

        private String call(String what) {
            return switch (what) {
                case "closed" -> work.closed();
                case "foreign" -> throw new IllegalStateException("foreign");
                case "answer" ->
                    throw new WebApplicationException(Response.status(418).build());
                default -> work.limited();
            };
        }

        @GET
        @Path("own")
        public String own() {
            throw new OwnException(new IllegalStateException("foreign"));
        }

        @GET
        @Path("join")
        public String join(@DefaultValue("limited") @QueryParam("what") String what) {
            return CompletableFuture.supplyAsync(() -> call(what), Runnable::run)
                    .join();
        }

        @GET
        @Path("get")
        public String get(@DefaultValue("limited") @QueryParam("what") String what)
                throws ExecutionException, InterruptedException {
            return CompletableFuture.supplyAsync(() -> call(what), Runnable::run)
                    .get();
        }

        @GET
        @Path("nested")
        public String nested(@DefaultValue("limited") @QueryParam("what") String what) {
            return CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return get(what);
                                } catch (ExecutionException | InterruptedException e) {
                                    throw new CompletionException(e);
                                }
                            },
                            Runnable::run)
                    .join();
        }

        /** As the result of an enterprise bean that wraps the exceptions of its work. */
        @GET
        @Path("enterprise")
        public String enterprise(@DefaultValue("limited") @QueryParam("what") String what) {
            return CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return call(what);
                                } catch (RuntimeException e) {
                                    throw new EJBException(e);
                                }
                            },
                            Runnable::run)
                    .join();
        }

        @GET
        @Path("circle")
        public String circle() {
            CompletionException first = new CompletionException("first") {};
            first.initCause(new CompletionException("second", first));
            throw first;
        }

        @GET
        @Path("code")
        public String code() {
            CompletionStage<Decision> decision =
                    limiter.acquireAsync("work", "k").thenApply(Decision::orThrow);
            return decision.thenApply(Decision::toString).toCompletableFuture().join();
        }

        @GET
        @Path("stage")
        public CompletionStage<String> stage(@DefaultValue("limited") @QueryParam("what") String what) {
            return CompletableFuture.supplyAsync(() -> call(what), Runnable::run);
        }
    }

    /** A mapper of the application for everything that nothing else maps. */
    @Provider
    public static class RuntimeMapper implements ExceptionMapper<RuntimeException> {
        @Override
        public Response toResponse(RuntimeException exception) {
            return Response.status(509)
                    .entity(exception.getClass().getSimpleName())
                    .build();
        }
    }

    /** A writer of the application that makes each text a JSON string. */
    @Provider
    @Produces({MediaType.APPLICATION_JSON, "application/problem+json"})
    public static class QuotingWriter implements MessageBodyWriter<String> {
        @Override
        public boolean isWriteable(Class<?> type, Type generic, Annotation[] annotations, MediaType mediaType) {
            return type == String.class;
        }

        @Override
        public void writeTo(
                String text,
                Class<?> type,
                Type generic,
                Annotation[] annotations,
                MediaType mediaType,
                MultivaluedMap<String, Object> fields,
                OutputStream body)
                throws IOException {
            body.write(('"' + text + '"').getBytes(StandardCharsets.UTF_8));
        }
    }

    @Tag("field")
    @ParameterizedTest
    @ValueSource(strings = {"join", "get", "nested", "enterprise", "code", "stage"})
    void aWrappedRejectionIsTheSame(String how) {
        assertThat(rest.get("/waits/" + how).statusCode()).isEqualTo(200);
        HttpResponse<String> rejected = rest.get("/waits/" + how);
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValue("Retry-After")).contains("3600");
        assertThat(rejected.body()).startsWith("{").contains("\"violated-policies\":[\"work\"]");
    }

    @Tag("field")
    @ParameterizedTest
    @ValueSource(strings = {"join", "get", "nested", "enterprise", "stage"})
    void aWrappedRejectionInAnOutageIsTheSame(String how, RateLimits limits) {
        limits.failBackend();
        HttpResponse<String> unavailable = rest.get("/waits/" + how + "?what=closed");
        assertThat(unavailable.statusCode()).isEqualTo(503);
        assertThat(unavailable.headers().firstValue("Retry-After")).isPresent();
    }

    /** The mapper of the application keeps the exceptions that are no rejections. */
    @Test
    void anotherWrappedExceptionStaysThatOfTheApplication() {
        HttpResponse<String> mapped = rest.get("/waits/join?what=foreign");
        assertThat(mapped.statusCode()).isEqualTo(509);
        assertThat(mapped.body()).isIn("CompletionException", "IllegalStateException");
    }

    @Test
    void aCircleOfCausesStaysThatOfTheApplication() {
        assertThat(rest.get("/waits/circle").statusCode()).isEqualTo(509);
    }

    @Test
    void aSubclassOfAWrapperStaysThatOfTheApplication() {
        assertThat(rest.get("/waits/own").statusCode()).isEqualTo(509);
    }

    @Test
    void anotherWrappedExceptionWithoutAMapperIsAnError() {
        assertThat(rest.get("/waits/get?what=foreign").statusCode()).isIn(500, 509);
    }

    @Tag("field")
    @Test
    void aWriterOfTheApplicationDoesNotChangeTheBody() {
        rest.get("/waits/join");
        HttpResponse<String> rejected = rest.get("/waits/join");
        assertThat(rejected.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(rejected.body()).startsWith("{\"type\":").endsWith("}");
    }
}
