// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.util.Map;

/** The clients that annotations of the application name. The host provides an object of this type. */
@FunctionalInterface
public interface AnnotatedClients {
    /** Returns the first annotated type of each client. */
    Map<String, String> types();
}
