// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import java.io.Serial;

/** An exception of the application. */
public class Teapot extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;
}
