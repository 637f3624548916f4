// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.unchecked;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of {@link UncheckedResource}. */
@ApplicationPath("api")
public class UncheckedApplication extends Application {}
