// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestInstancePostProcessor;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/** The extension of {@link WeirTest}. */
public final class WeirExtension
        implements BeforeAllCallback,
                AfterAllCallback,
                BeforeEachCallback,
                AfterEachCallback,
                TestInstancePostProcessor,
                ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(WeirExtension.class);

    /** Creates an extension whose configuration is the annotation {@link WeirTest} of the class. */
    public WeirExtension() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        Class<?> type = context.getRequiredTestClass();
        if (find(context) == null || type.isAnnotationPresent(WeirTest.class)) {
            context.getStore(NAMESPACE).put(TestEngine.class, start(type));
        }
        injectInto(type, null, context);
    }

    private static TestEngine start(Class<?> type) {
        WeirTest test = AnnotationSupport.findAnnotation(type, WeirTest.class).orElseThrow();
        return new TestEngine(
                TestProperties.over(type.getClassLoader(), TestProperties.of(test.properties())),
                Instant.parse(test.now()));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        TestEngine own = context.getStore(NAMESPACE).remove(TestEngine.class, TestEngine.class);
        if (own != null) {
            own.stop();
        }
    }

    @Override
    public void postProcessTestInstance(Object instance, ExtensionContext context) {
        injectInto(instance.getClass(), instance, context);
    }

    private static void injectInto(Class<?> type, @Nullable Object instance, ExtensionContext context) {
        Predicate<Field> injected = field -> Modifier.isStatic(field.getModifiers()) == (instance == null)
                && !Modifier.isFinal(field.getModifiers());
        for (Field field : ReflectionSupport.findFields(type, injected, HierarchyTraversalMode.TOP_DOWN)) {
            object(field.getType(), context).ifPresent(value -> set(field, instance, value));
        }
    }

    private static void set(Field field, @Nullable Object instance, Object value) {
        try {
            field.setAccessible(true);
            field.set(instance, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        TestEnvironment environment = engine(context).environment();
        if (AnnotationSupport.findAnnotation(context.getRequiredTestClass(), WeirTest.class)
                .map(WeirTest::reset)
                .orElse(true)) {
            environment.resetAll();
        }
        environment.clock().testThread(Thread.currentThread());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        engine(context).environment().clock().testThread(null);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return object(parameter.getParameter().getType(), context).isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return object(parameter.getParameter().getType(), context).orElseThrow();
    }

    private static Optional<Object> object(Class<?> type, ExtensionContext context) {
        TestEngine engine = engine(context);
        if (type == RateLimiter.class) {
            return Optional.of(engine.limiter());
        }
        if (type == RateLimitClock.class) {
            return Optional.of(engine.environment().clock());
        }
        return type == RateLimits.class ? Optional.of(engine.limits()) : Optional.empty();
    }

    private static @Nullable TestEngine find(ExtensionContext context) {
        return context.getStore(NAMESPACE).get(TestEngine.class, TestEngine.class);
    }

    private static TestEngine engine(ExtensionContext context) {
        TestEngine engine = find(context);
        if (engine == null) {
            throw new IllegalStateException("the engine of the test class has not started");
        }
        return engine;
    }
}
