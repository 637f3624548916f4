// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
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

/**
 * The extension of {@link WeirTest}. A test class without the annotation registers one with a {@linkplain #builder() builder} in a static
 * field:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final WeirExtension WEIR = WeirExtension.builder().policy("mail", "3/1h").build();
 * }</pre>
 */
public final class WeirExtension
        implements BeforeAllCallback,
                AfterAllCallback,
                BeforeEachCallback,
                AfterEachCallback,
                TestInstancePostProcessor,
                ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(WeirExtension.class);

    /** Null if the annotation of the test class states it. */
    private final @Nullable Setup setup;

    /** Creates an extension for a class with the annotation {@link WeirTest}. */
    public WeirExtension() {
        this.setup = null;
    }

    WeirExtension(Setup setup) {
        this.setup = setup;
    }

    /**
     * Returns a builder of an extension.
     *
     * @return a builder without properties
     */
    public static WeirExtensionBuilder builder() {
        return new WeirExtensionBuilder();
    }

    /** The engine of a test class, and what the class states about it. */
    private record Running(StartedEngine engine, Setup setup, Class<?> owner) {}

    /** The context class loader of the thread before a test. A store closes a class loader that it contains itself. */
    private record Replaced(ClassLoader loader) {}

    @Override
    public void beforeAll(ExtensionContext context) {
        injectInto(context.getRequiredTestClass(), null, started(context));
    }

    /** Starts the engine of a test class if nobody has. JUnit creates the instance of a class with the life cycle PER_CLASS first. */
    private StartedEngine started(ExtensionContext context) {
        Class<?> type = context.getRequiredTestClass();
        Optional<Running> known = find(context);
        boolean own = known.filter(running -> running.owner == type).isPresent();
        if (known.isEmpty() || (!own && type.isAnnotationPresent(WeirTest.class))) {
            Setup stated = setup(type);
            context.getStore(NAMESPACE).put(Running.class, new Running(Engines.start(stated, type), stated, type));
        }
        return engine(context);
    }

    private Setup setup(Class<?> type) {
        return setup != null
                ? setup
                : AnnotationSupport.findAnnotation(type, WeirTest.class)
                        .map(Setup::of)
                        .orElseThrow(() -> new IllegalStateException(type.getName() + " has no @WeirTest"));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Running own = context.getStore(NAMESPACE).remove(Running.class, Running.class);
        if (own != null) {
            own.engine.stop();
        }
    }

    @Override
    public void postProcessTestInstance(Object instance, ExtensionContext context) {
        StartedEngine engine = started(context);
        engine.inject(instance);
        injectInto(instance.getClass(), instance, engine);
    }

    private static void injectInto(Class<?> type, @Nullable Object instance, StartedEngine engine) {
        Predicate<Field> injected = field -> Modifier.isStatic(field.getModifiers()) == (instance == null)
                && !Modifier.isFinal(field.getModifiers());
        for (Field field : ReflectionSupport.findFields(type, injected, HierarchyTraversalMode.TOP_DOWN)) {
            object(field.getType(), engine).ifPresent(value -> setIfNull(field, instance, value));
        }
    }

    private static void setIfNull(Field field, @Nullable Object instance, Object value) {
        try {
            field.setAccessible(true);
            if (field.get(instance) == null) {
                field.set(instance, value);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Running running = find(context).orElseThrow();
        StartedEngine engine = running.engine;
        if (running.setup.resets()) {
            engine.environment().resetAll();
        }
        Thread thread = Thread.currentThread();
        engine.environment().clock().testThread(thread);
        context.getStore(NAMESPACE).put(Replaced.class, new Replaced(thread.getContextClassLoader()));
        thread.setContextClassLoader(engine.loader());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        engine(context).environment().clock().testThread(null);
        Replaced replaced = context.getStore(NAMESPACE).remove(Replaced.class, Replaced.class);
        if (replaced != null) {
            Thread.currentThread().setContextClassLoader(replaced.loader);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return object(parameter.getParameter().getType(), started(context)).isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return object(parameter.getParameter().getType(), engine(context)).orElseThrow();
    }

    private static Optional<Object> object(Class<?> type, StartedEngine engine) {
        if (type == RateLimiter.class) {
            return Optional.of(engine.limiter());
        }
        if (type == RateLimitClock.class) {
            return Optional.of(engine.environment().clock());
        }
        if (type == RestRuntime.class) {
            return Optional.of(engine.rest());
        }
        return type == RateLimits.class ? Optional.of(engine.limits()) : Optional.empty();
    }

    private static Optional<Running> find(ExtensionContext context) {
        return Optional.ofNullable(context.getStore(NAMESPACE).get(Running.class, Running.class));
    }

    private static StartedEngine engine(ExtensionContext context) {
        return find(context)
                .map(Running::engine)
                .orElseThrow(() -> new IllegalStateException("the engine of the test class has not started"));
    }
}
