// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor;

import io.weir.ratelimit.runtime.ApplicationLoader;

/** An API that not every server makes visible. The class loader of a thread can find classes that this library does not. */
public enum OptionalApi {
    SERVLET("jakarta.servlet.http.HttpServletRequest"),
    MICROPROFILE_CONFIG("org.eclipse.microprofile.config.ConfigProvider"),
    MICROPROFILE_HEALTH("org.eclipse.microprofile.health.HealthCheck"),
    MICROPROFILE_METRICS("org.eclipse.microprofile.metrics.MetricRegistry"),
    OPENTELEMETRY("io.opentelemetry.api.trace.Span"),
    MICROPROFILE_JWT("org.eclipse.microprofile.jwt.JsonWebToken"),
    JAKARTA_SECURITY("jakarta.security.enterprise.SecurityContext"),
    OPENID_CONNECT("jakarta.security.enterprise.identitystore.openid.OpenIdContext"),
    WEB_SOCKET("jakarta.websocket.Session");

    private final boolean visible;

    OptionalApi(String type) {
        this.visible = ApplicationLoader.finds(OptionalApi.class.getClassLoader(), type);
    }

    /** Returns whether classes that use the API can be loaded. */
    public boolean isVisible() {
        return visible;
    }
}
