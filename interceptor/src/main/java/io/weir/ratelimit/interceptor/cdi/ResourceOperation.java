// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;

/**
 * A resource method as a client knows it.
 *
 * @param method the HTTP method
 * @param path its template below the path of the application, without regular expressions: empty or beginning with a slash, and
 *     without one at the end
 * @param binding the policies that its annotations name
 */
public record ResourceOperation(String method, String path, Binding binding) {}
