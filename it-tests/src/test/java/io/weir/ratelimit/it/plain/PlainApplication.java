// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.plain;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of {@link PlainResource}. */
@ApplicationPath("api")
public class PlainApplication extends Application {}
