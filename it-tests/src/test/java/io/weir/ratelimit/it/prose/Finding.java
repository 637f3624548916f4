// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

/** A breach of the language rules, with its remedy. */
record Finding(int line, String problem, String remedy) {
    /** Returns the finding as one line that names the file, the line, the problem and the remedy. */
    String in(String file) {
        return "%s:%d: %s: %s".formatted(file, line, problem, remedy);
    }
}
