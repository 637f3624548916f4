// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.kit;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

@ApplicationPath("api")
public class KitApplication extends Application {}
