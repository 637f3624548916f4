// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * The calls of a backend that abort the test instead of failing it: calls with a limit that the backend does not support, settlements of a
 * backend without {@code settle}, and blocks of a backend without {@code block}.
 */
final class OptionalParts implements InvocationHandler {
    private static final Set<String> BLOCKS = Set.of("block", "blockAsync", "unblock", "countRejections");

    private final RateLimitBackend backend;

    private OptionalParts(RateLimitBackend backend) {
        this.backend = backend;
    }

    /** Returns a backend that aborts a test of an optional part that it does not have. */
    static RateLimitBackend of(RateLimitBackend backend) {
        return (RateLimitBackend) Proxy.newProxyInstance(
                OptionalParts.class.getClassLoader(),
                new Class<?>[] {RateLimitBackend.class},
                new OptionalParts(backend));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        if (arguments != null) {
            unsupported(arguments).ifPresent(limit -> {
                throw new TestAbortedException("the backend does not support " + limit);
            });
        }
        if (method.getName().startsWith("settle") && !has("settle")) {
            throw new TestAbortedException("the backend cannot settle charges");
        }
        if (BLOCKS.contains(method.getName()) && !has("block")) {
            throw new TestAbortedException("the backend cannot block keys");
        }
        try {
            return method.invoke(backend, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Optional<Limit> unsupported(Object[] arguments) {
        return Arrays.stream(arguments)
                .flatMap(argument -> argument instanceof List<?> charges ? charges.stream() : Stream.of(argument))
                .flatMap(OptionalParts::limits)
                .filter(limit -> !backend.supports(limit))
                .findFirst();
    }

    private static Stream<Limit> limits(Object argument) {
        if (argument instanceof Charge charge) {
            return charge.policy().limits().stream();
        }
        return argument instanceof PolicyLimits policy ? policy.limits().stream() : Stream.empty();
    }

    private boolean has(String operation) {
        return Arrays.stream(backend.getClass().getMethods())
                .anyMatch(method ->
                        method.getName().equals(operation) && method.getDeclaringClass() != RateLimitBackend.class);
    }

    /** Aborts a test whose other threads were aborted. */
    static final class InThreads implements TestExecutionExceptionHandler {
        @Override
        public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof TestAbortedException aborted) {
                    throw aborted;
                }
            }
            throw failure;
        }
    }
}
