// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Leaves it to the server to find resources and providers. In place of {@link TestApplication}, never beside it. */
@ApplicationPath("api")
public class EmptyApplication extends Application {}
