// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

/** An API that not every server makes visible. The class loader of a thread can find classes that this library does not. */
enum OptionalApi {
    MICROPROFILE_JWT("org.eclipse.microprofile.jwt.JsonWebToken"),
    JAKARTA_SECURITY("jakarta.security.enterprise.SecurityContext"),
    OPENID_CONNECT("jakarta.security.enterprise.identitystore.openid.OpenIdContext"),
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

    /** Tests whether classes that use the API can be loaded. */
    boolean isVisible() {
        return visible;
    }
}
