// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import jakarta.annotation.Priority;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.FeatureContext;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Providers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Maps a rejection that {@code join()} or {@code get()} has wrapped as if it were not wrapped.
 *
 * <p>A wrapper of another exception has the response that it has without this mapper: that of a mapper of the application for a superclass,
 * else that of the server.
 */
@Priority(Integer.MAX_VALUE)
public abstract class WrappedMapper<E extends Exception> implements ExceptionMapper<E> {
    private static final String JERSEY = "org.glassfish.jersey.";

    /** A chain of causes can be a circle. */
    private static final int MAX_WRAPPERS = 16;

    @Context
    private @Nullable Providers providers;

    WrappedMapper() {}

    /** The mapper of results of {@code CompletableFuture.join()}. */
    @Priority(Integer.MAX_VALUE)
    public static class OfJoin extends WrappedMapper<CompletionException>
            implements ExceptionMapper<CompletionException> {}

    /** The mapper of results of {@code Future.get()}. */
    @Priority(Integer.MAX_VALUE)
    public static class OfGet extends WrappedMapper<ExecutionException>
            implements ExceptionMapper<ExecutionException> {}

    /** Registers the mappers. Jersey has a type of its own for a mapper that maps some exceptions of a class only. */
    static void register(FeatureContext context) {
        if (!context.getConfiguration().getClass().getName().startsWith(JERSEY)) {
            context.register(OfJoin.class);
            context.register(OfGet.class);
            return;
        }
        try {
            context.register(JerseyWrappedMapper.OfJoin.class);
            context.register(JerseyWrappedMapper.OfGet.class);
        } catch (LinkageError e) { // the type is not visible; Jersey itself unwraps where the application has no mapper
            MessageCatalog.debug("Wrapped rejections are mapped by Jersey", e);
        }
    }

    /** Returns whether a wrapper has a rejection as its cause, for {@link JerseyWrappedMapper}. */
    public boolean isMappable(E wrapper) {
        Throwable cause = unwrapped(wrapper);
        return cause instanceof RateLimitExceededException || cause instanceof RateLimitUnavailableException;
    }

    private static @Nullable Throwable unwrapped(Throwable wrapper) {
        Throwable cause = wrapper;
        for (int depth = 0; depth < MAX_WRAPPERS && cause != null && isWrapper(cause); depth++) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Tests whether an exception only carries that of another thread, of an enterprise bean or of a reflective call. */
    private static boolean isWrapper(Throwable exception) {
        return exception instanceof CompletionException
                || exception instanceof ExecutionException
                || exception instanceof UndeclaredThrowableException
                || exception instanceof InvocationTargetException
                || isOfEnterpriseBean(exception);
    }

    /** Compares the name, because not every runtime has the class. */
    private static boolean isOfEnterpriseBean(Throwable exception) {
        return TypeHierarchy.superclasses(exception.getClass()).stream()
                .anyMatch(type -> type.getName().equals("jakarta.ejb.EJBException"));
    }

    @Override
    public Response toResponse(E wrapper) {
        Throwable cause = unwrapped(wrapper);
        return cause != null && isMappable(wrapper)
                ? mapped(cause.getClass(), cause, wrapper)
                : mapped(superclass(wrapper), wrapper, wrapper);
    }

    /** Returns the nearest class above those of wrappers, because this mapper is that of their subclasses, too. */
    private static Class<?> superclass(Throwable wrapper) {
        Class<?> type = wrapper.getClass();
        while (CompletionException.class.isAssignableFrom(type) || ExecutionException.class.isAssignableFrom(type)) {
            type = type.getSuperclass();
        }
        return type;
    }

    /** Maps an exception as one of a class. */
    @SuppressWarnings("unchecked") // the class is that of the exception, or a superclass
    private <T extends Throwable> Response mapped(Class<?> type, Throwable exception, E wrapper) {
        ExceptionMapper<T> mapper = providers == null ? null : providers.getExceptionMapper((Class<T>) type);
        if (mapper == null) {
            throw WrappedMapper.<RuntimeException>undeclared(wrapper);
        }
        return mapper.toResponse((T) exception);
    }

    /** Returns an exception as one that no method declares, which the server receives as if there were no mapper. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T undeclared(Throwable exception) {
        return (T) exception;
    }
}
