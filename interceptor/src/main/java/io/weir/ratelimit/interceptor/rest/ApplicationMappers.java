// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Providers;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The exception mappers of the application. They map rejections of a filter in the same way as rejections that a resource throws. */
final class ApplicationMappers {
    private final Supplier<@Nullable Providers> providers;
    private final Supplier<@Nullable Configuration> configuration;

    /** Whether the application has a mapper for an exception class. The result is cached to keep rejections cheap. */
    private final Map<Class<?>, Boolean> listed = new ConcurrentHashMap<>();

    /** Creates the mappers of an application. The providers find the mapper of an exception, and the configuration lists all mappers. */
    ApplicationMappers(Supplier<@Nullable Providers> providers, Supplier<@Nullable Configuration> configuration) {
        this.providers = providers;
        this.configuration = configuration;
    }

    /**
     * Maps an exception of this library. Returns empty if the application has no mapper for exactly this class. Throws the exception itself
     * if only the server finds the mapper. Jersey can return another mapper than the one that it applies.
     */
    @SuppressWarnings("unchecked") // the class of an exception is one of its own type
    <T extends RuntimeException> Optional<Response> response(T exception) {
        Class<T> type = (Class<T>) exception.getClass();
        Providers known = providers.get();
        ExceptionMapper<T> mapper = known == null ? null : known.getExceptionMapper(type);
        if (mapper != null && !isOfThisLibrary(mapper.getClass())) {
            return Optional.ofNullable(mapper.toResponse(exception));
        }
        if (listed.computeIfAbsent(type, this::isListed)) {
            throw exception;
        }
        return Optional.empty();
    }

    private boolean isListed(Class<?> type) {
        try {
            Configuration known = configuration.get();
            return known != null
                    && Stream.concat(
                                    known.getClasses().stream(),
                                    known.getInstances().stream().map(Object::getClass))
                            .anyMatch(each -> ExceptionMapper.class.isAssignableFrom(each)
                                    && !isOfThisLibrary(each)
                                    && maps(each, type));
        } catch (RuntimeException e) { // The injected configuration can be unusable outside of a request.
            return false;
        }
    }

    private static boolean isOfThisLibrary(Class<?> mapper) {
        return ExceededMapper.class.isAssignableFrom(mapper) || UnavailableMapper.class.isAssignableFrom(mapper);
    }

    private static boolean maps(Class<?> mapper, Class<?> type) {
        return Arrays.stream(mapper.getMethods())
                .anyMatch(method -> method.getName().equals("toResponse")
                        && Arrays.equals(method.getParameterTypes(), new Class<?>[] {type}));
    }
}
