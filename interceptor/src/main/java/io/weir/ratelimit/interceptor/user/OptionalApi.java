// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

/** An API that not every server makes visible. The class loader of a thread can find classes that this library does not. */
public enum OptionalApi {
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
