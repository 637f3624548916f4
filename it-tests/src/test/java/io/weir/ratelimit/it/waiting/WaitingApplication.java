// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.waiting;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of {@link WaitingResource}. */
@ApplicationPath("api")
public class WaitingApplication extends Application {}
