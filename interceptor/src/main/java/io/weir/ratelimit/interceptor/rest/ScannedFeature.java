// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.ext.Provider;

/**
 * The feature for RESTEasy, which finds it by its annotation. RESTEasy loads no services for an application without an {@code
 * Application} class. This class is separate, because RESTEasy warns about a class that it finds both ways.
 */
@Provider
@ConstrainedTo(RuntimeType.SERVER)
public final class ScannedFeature extends RateLimitFeature {}
