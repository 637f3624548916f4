// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import jakarta.annotation.security.DeclareRoles;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

@ApplicationPath("api")
@DeclareRoles("user")
public class CallersApplication extends Application {}
