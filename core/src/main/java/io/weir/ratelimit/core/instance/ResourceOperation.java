// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.core.request.Binding;

/**
 * An operation of a resource.
 *
 * @param path the path template below the path of the application, without regular expressions; empty, or with a slash at the start and
 *     none at the end
 * @param binding the policies of the annotations
 */
public record ResourceOperation(String method, String path, Binding binding) {}
