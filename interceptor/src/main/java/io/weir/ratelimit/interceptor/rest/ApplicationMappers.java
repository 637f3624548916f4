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

/**
 * The application's exception mappers, which answer refusals of the filter as they answer those that a resource throws.
 */
final class ApplicationMappers {
    private final Supplier<@Nullable Providers> providers;
    private final Supplier<@Nullable Configuration> configuration;

    /** Whether the application lists a mapper of a class of exceptions. Found out once: a refusal must stay cheap. */
    private final Map<Class<?>, Boolean> listed = new ConcurrentHashMap<>();

    /**
     * The mappers of an application.
     *
     * @param providers finds the mapper of an exception
     * @param configuration lists all mappers
     */
    ApplicationMappers(Supplier<@Nullable Providers> providers, Supplier<@Nullable Configuration> configuration) {
        this.providers = providers;
        this.configuration = configuration;
    }

    /**
     * The application's answer to an exception of ours, empty if it has no mapper for just that class.
     *
     * @throws T the exception itself where only the server can find the mapper: of two for one class Jersey tells the one that
     *     comes last, and maps by the one that comes first
     */
    @SuppressWarnings("unchecked") // the class of an exception is one of its own type
    <T extends RuntimeException> Optional<Response> response(T exception) {
        Class<T> type = (Class<T>) exception.getClass();
        Providers known = providers.get();
        ExceptionMapper<T> mapper = known == null ? null : known.getExceptionMapper(type);
        if (mapper != null && !isOurs(mapper.getClass())) {
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
                            .anyMatch(each ->
                                    ExceptionMapper.class.isAssignableFrom(each) && !isOurs(each) && maps(each, type));
        } catch (RuntimeException e) { // what is injected may know no request, or not what it lists
            return false;
        }
    }

    private static boolean isOurs(Class<?> mapper) {
        return ExceededMapper.class.isAssignableFrom(mapper) || UnavailableMapper.class.isAssignableFrom(mapper);
    }

    private static boolean maps(Class<?> mapper, Class<?> type) {
        return Arrays.stream(mapper.getMethods())
                .anyMatch(method -> method.getName().equals("toResponse")
                        && Arrays.equals(method.getParameterTypes(), new Class<?>[] {type}));
    }
}
