// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.hanging;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of {@link HangingResource}. */
@ApplicationPath("api")
public class HangingApplication extends Application {}
