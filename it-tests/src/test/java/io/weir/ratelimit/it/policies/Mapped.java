// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import java.io.Serial;

/** An exception with a mapper. */
public class Mapped extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;
}
