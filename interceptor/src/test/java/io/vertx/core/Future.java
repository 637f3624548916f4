// SPDX-License-Identifier: Apache-2.0
package io.vertx.core;

/** The type of a result of Vert.x, by its name. */
public interface Future<T> {}
