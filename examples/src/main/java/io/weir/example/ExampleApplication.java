// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application with all resources of this package under {@code /api}. */
@ApplicationPath("/api")
public class ExampleApplication extends Application {}
