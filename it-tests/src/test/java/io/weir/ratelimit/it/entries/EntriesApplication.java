// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of the resources that start and observe the other entry points. */
@ApplicationPath("api")
public class EntriesApplication extends Application {}
