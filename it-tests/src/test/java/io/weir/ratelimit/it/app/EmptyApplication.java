// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** An application whose resources and providers the server scans. It replaces {@link TestApplication}. */
@ApplicationPath("api")
public class EmptyApplication extends Application {}
