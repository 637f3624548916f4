// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor;

/** An API that not every server makes visible. The class loader of a thread can find classes that this library does not. */
public enum OptionalApi {
    /** The requests of the Servlet API, which not every REST runtime has. */
    SERVLET("jakarta.servlet.http.HttpServletRequest"),
    /** The configuration of MicroProfile. */
    MICROPROFILE_CONFIG("org.eclipse.microprofile.config.ConfigProvider"),
    /** The health checks of MicroProfile. */
    MICROPROFILE_HEALTH("org.eclipse.microprofile.health.HealthCheck"),
    /** The meters of MicroProfile. */
    MICROPROFILE_METRICS("org.eclipse.microprofile.metrics.MetricRegistry"),
    /** The meters and spans of OpenTelemetry. */
    OPENTELEMETRY("io.opentelemetry.api.trace.Span"),
    /** The tokens of MicroProfile JWT. */
    MICROPROFILE_JWT("org.eclipse.microprofile.jwt.JsonWebToken"),
    /** The callers of Jakarta Security. */
    JAKARTA_SECURITY("jakarta.security.enterprise.SecurityContext"),
    /** The logins by OpenID Connect. */
    OPENID_CONNECT("jakarta.security.enterprise.identitystore.openid.OpenIdContext"),
    /** The sessions of WebSocket. */
    WEB_SOCKET("jakarta.websocket.Session");

    private final boolean visible;

    OptionalApi(String type) {
        boolean found;
        try {
            Class.forName(type, false, OptionalApi.class.getClassLoader());
            found = true;
        } catch (ClassNotFoundException | LinkageError e) {
            found = false;
        }
        this.visible = found;
    }

    /** Returns whether classes that use the API can be loaded. */
    public boolean isVisible() {
        return visible;
    }
}
