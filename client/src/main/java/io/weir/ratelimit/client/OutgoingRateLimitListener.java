// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import java.util.Arrays;
import org.eclipse.microprofile.rest.client.RestClientBuilder;
import org.eclipse.microprofile.rest.client.annotation.RegisterProvider;
import org.eclipse.microprofile.rest.client.spi.RestClientListener;

/**
 * A listener that registers the filter for each interface of MicroProfile REST Client with {@link OutgoingRateLimit}. It passes the
 * interface on, because a called method does not have it if the interface inherits the method.
 */
public final class OutgoingRateLimitListener implements RestClientListener {
    /** Creates the listener, which the runtime finds by its service file. */
    public OutgoingRateLimitListener() {
        // Nothing to prepare.
    }

    @Override
    public void onNewClient(Class<?> serviceInterface, RestClientBuilder builder) {
        // Some runtimes register the providers of the interface before this call, others after it.
        boolean registers = builder.getConfiguration().isRegistered(RateLimitClientFilter.class)
                || Arrays.stream(serviceInterface.getAnnotationsByType(RegisterProvider.class))
                        .anyMatch(provider -> provider.value() == RateLimitClientFilter.class);
        boolean annotated = ClientCall.annotation(serviceInterface).isPresent();
        if (registers || annotated) {
            builder.property(ClientCall.INTERFACE, serviceInterface);
        }
        if (annotated && !registers) {
            builder.register(RateLimitClientFilter.class);
        }
    }
}
