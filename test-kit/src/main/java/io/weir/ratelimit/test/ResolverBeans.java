// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.Config;

/**
 * The resolvers of the application that its configuration names. A test that lists its beans need not list these. They are searched in the
 * folders of the class path, which are the classes of the application and of its tests, and not in archives.
 */
final class ResolverBeans {
    private static final List<Class<?>> TYPES = List.of(KeyResolver.class, TierResolver.class);
    private static final String CLASS = ".class";

    private final ClassLoader loader;
    private final Set<String> words = new HashSet<>();

    private ResolverBeans(ClassLoader loader, Config config) {
        this.loader = loader;
        StreamSupport.stream(config.getPropertyNames().spliterator(), false)
                .filter(name -> name.startsWith("ratelimit."))
                .flatMap(name -> config.getOptionalValue(name, String.class).stream())
                .forEach(value -> words.addAll(Arrays.asList(value.split("[ |+,]+"))));
    }

    /** Finds the classes of the resolvers. */
    static List<Class<?>> find(ClassLoader loader, Config config) {
        ResolverBeans beans = new ResolverBeans(loader, config);
        List<Class<?>> found = new ArrayList<>();
        try {
            for (URL root : Collections.list(loader.getResources(""))) {
                if (root.getProtocol().equals("file")) {
                    beans.search(Path.of(URI.create(root.toString())), found);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /**
     * Adds the resolvers to those of a test without a container.
     *
     * @throws IllegalStateException if a resolver needs a container
     */
    static Setup addTo(Setup setup, ClassLoader loader, Config config) {
        Map<String, KeyResolver> keys = new HashMap<>();
        Map<String, TierResolver> tiers = new HashMap<>();
        for (Class<?> type : find(loader, config)) {
            String name = beanName(type);
            if (setup.keys().containsKey(name) || setup.tiers().containsKey(name)) {
                continue;
            }
            Object resolver = create(type);
            if (resolver instanceof KeyResolver key) {
                keys.put(name, key);
            }
            if (resolver instanceof TierResolver tier) {
                tiers.put(name, tier);
            }
        }
        return setup.withResolvers(keys, tiers);
    }

    private static Object create(Class<?> type) {
        try {
            if (needsInjection(type)) {
                throw new IllegalStateException(
                        "the resolver " + type.getName() + " needs injection and so a container:"
                                + " use container = true, or pass it to the builder of WeirExtension");
            }
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "the resolver " + type.getName() + " cannot be created without a container", e);
        }
    }

    private static boolean needsInjection(Class<?> type) {
        Stream<AnnotatedElement> own = Stream.of(
                        type.getDeclaredFields(), type.getDeclaredMethods(), type.getDeclaredConstructors())
                .flatMap(Arrays::stream);
        return own.anyMatch(member -> member.isAnnotationPresent(Inject.class))
                || (type.getSuperclass() != null && needsInjection(type.getSuperclass()));
    }

    private void search(Path root, List<Class<?>> found) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(file -> file.toString().endsWith(CLASS)).toList();
        }
        for (Path file : files) {
            // Only few classes are loaded.
            String code = Files.readString(file, StandardCharsets.ISO_8859_1);
            if (TYPES.stream().anyMatch(type -> code.contains(type.getName().replace('.', '/')))) {
                String name = root.relativize(file).toString().replace('/', '.').replace('\\', '.');
                load(name.substring(0, name.length() - CLASS.length()), found);
            }
        }
    }

    private void load(String name, List<Class<?>> found) {
        try {
            Class<?> type = Class.forName(name, false, loader);
            if (TYPES.stream().anyMatch(resolver -> resolver.isAssignableFrom(type))
                    && !Modifier.isAbstract(type.getModifiers())
                    && type.isAnnotationPresent(Named.class)
                    && words.contains(beanName(type))) {
                found.add(type);
            }
        } catch (ClassNotFoundException | LinkageError e) {
            // Without its libraries, the class is no bean.
        }
    }

    private static String beanName(Class<?> type) {
        String name = type.getAnnotation(Named.class).value();
        String simple = type.getSimpleName();
        return name.isEmpty() ? Character.toLowerCase(simple.charAt(0)) + simple.substring(1) : name;
    }
}
