// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.rest;

import io.weir.ratelimit.runtime.ApplicationLoader;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.SecurityContext;
import java.io.InputStream;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** A REST runtime that calls resources without a connection. */
public interface RestAdapter {
    /** The longest real time of an asynchronous call. */
    long LONGEST_CALL_SECONDS = 30;

    /**
     * A request.
     *
     * @param base the URI of the application, which ends with a slash
     * @param properties the properties of the request, which can be changed; those of the runtime are there after the call
     */
    record Call(
            String method,
            URI base,
            URI uri,
            Map<String, List<String>> fields,
            InputStream body,
            SecurityContext security,
            Map<String, Object> properties) {}

    /** A response. */
    record Reply(int status, Map<String, List<String>> fields, String body) {
        /** Returns a response without a body. */
        public static Reply of(int status) {
            return new Reply(status, Map.of(), "");
        }
    }

    /**
     * Starts the runtime of the class path in the current CDI container.
     *
     * @throws IllegalStateException if the class path has none
     */
    static RestAdapter of(Application application) {
        if (isPresent("org.glassfish.jersey.server.ApplicationHandler")) {
            return new JerseyAdapter(application);
        }
        if (isPresent("org.jboss.resteasy.cdi.CdiInjectorFactory")) {
            return new ResteasyAdapter(application);
        }
        throw new IllegalStateException("the class path of the test has no Jakarta REST runtime:"
                + " add jersey-server, jersey-hk2 and jersey-cdi1x, or resteasy-core and resteasy-cdi");
    }

    private static boolean isPresent(String type) {
        return ApplicationLoader.finds(RestAdapter.class.getClassLoader(), type);
    }

    /**
     * Calls the resource of a request. An exception that no mapper handles is logged and has the status 500, as on a server.
     *
     * @throws IllegalStateException if the call does not end
     */
    Reply call(Call call);
}
