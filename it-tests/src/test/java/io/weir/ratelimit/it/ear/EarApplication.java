// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.ear;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The REST application of each WAR. */
@ApplicationPath("api")
public class EarApplication extends Application {}
