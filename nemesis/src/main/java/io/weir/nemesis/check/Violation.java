// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Operation;

/**
 * A promise that a history contradicts.
 *
 * @param promise the name of the promise
 * @param operation the first operation that contradicts it
 * @param reason what contradicts it
 */
public record Violation(String promise, Operation operation, String reason) {}
