// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import io.weir.ratelimit.client.outgoing.AnnotatedClients;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Default;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.WithAnnotations;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A CDI extension that finds the interfaces with {@link OutgoingRateLimit}. */
public class ClientExtension implements Extension {
    /** The clients that annotations name, each with the first annotated type. */
    private final Map<String, String> types = new ConcurrentHashMap<>();

    <T> void annotated(@Observes @WithAnnotations(OutgoingRateLimit.class) ProcessAnnotatedType<T> event) {
        Class<T> type = event.getAnnotatedType().getJavaClass();
        OutgoingRateLimit annotation = type.getAnnotation(OutgoingRateLimit.class);
        if (annotation != null) {
            types.merge(annotation.value(), type.getName(), (one, other) -> one.compareTo(other) < 0 ? one : other);
        }
    }

    void addBean(@Observes AfterBeanDiscovery event) {
        event.<AnnotatedClients>addBean()
                .beanClass(ClientExtension.class)
                .types(AnnotatedClients.class, Object.class)
                .qualifiers(Any.Literal.INSTANCE, Default.Literal.INSTANCE)
                .scope(Dependent.class)
                .createWith(context -> () -> Map.copyOf(types));
    }
}
