// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.servlet.UnlimitedServlets;
import io.weir.ratelimit.runtime.ApplicationLoader;
import jakarta.ws.rs.core.Application;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A check for REST applications to which no limit applies, because their runtime loads no services and so does not find the providers of
 * this library. Only an application that lists its classes is in danger: a scan finds the providers too.
 */
public final class ServiceLoading {
    /** The feature that registers the providers. */
    public static final String FEATURE = "io.weir.ratelimit.interceptor.rest.RateLimitFeature";

    private static final String STANDARD = "jakarta.ws.rs.loadServices";
    private static final String JERSEY = "org.glassfish.jersey.server.ServerProperties";
    private static final List<String> OF_JERSEY =
            List.of("jersey.config.disableMetainfServicesLookup", "jersey.config.server.disableMetainfServicesLookup");

    private ServiceLoading() {}

    /** Returns one message for each application without limits among the classes of an application. */
    static List<MessageCatalog.Message> withoutLimits(Collection<Class<?>> classes) {
        try {
            return classes.stream()
                    .filter(type -> Application.class.isAssignableFrom(type) && overridesProperties(type))
                    .flatMap(type -> withoutLimits(type).stream())
                    .toList();
        } catch (LinkageError e) { // the server has no Jakarta REST
            return List.of();
        }
    }

    /**
     * Only such an application is created for the check, because a constructor can have effects that must not occur twice. That of a class
     * of Jersey's {@code ResourceConfig} registers components; {@link UnlimitedServlets} checks it at its first request.
     */
    private static boolean overridesProperties(Class<?> type) {
        try {
            Class<?> declaring = type.getMethod("getProperties").getDeclaringClass();
            return declaring != Application.class && !declaring.getName().startsWith("org.glassfish.jersey.");
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static Optional<MessageCatalog.Message> withoutLimits(Class<?> type) {
        try {
            Application application =
                    (Application) type.getDeclaredConstructor().newInstance();
            Map<String, Object> properties = application.getProperties();
            return loadsNoServices(properties)
                    .filter(property -> lists(application))
                    .map(property ->
                            MESSAGES.message("WEIR-024", type.getName(), property, properties.get(property), FEATURE));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            MessageCatalog.debug("The properties of the REST application " + type.getName() + " are not known", e);
            return Optional.empty();
        }
    }

    /** Returns the property that prevents the runtime from loading services. */
    private static Optional<String> loadsNoServices(Map<String, Object> properties) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put(STANDARD, "false");
        if (ApplicationLoader.finds(Thread.currentThread().getContextClassLoader(), JERSEY)) {
            OF_JERSEY.forEach(name -> values.put(name, "true"));
        }
        return values.entrySet().stream()
                .filter(off -> off.getValue().equalsIgnoreCase(String.valueOf(properties.get(off.getKey()))))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Returns whether an application lists its classes, and not the feature of this library. */
    @SuppressWarnings("deprecation") // applications still list singletons
    private static boolean lists(Application application) {
        List<String> listed = Stream.concat(
                        application.getClasses().stream(),
                        application.getSingletons().stream().map(Object::getClass))
                .map(Class::getName)
                .toList();
        return !listed.isEmpty() && !listed.contains(FEATURE);
    }
}
