// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.Path;

@Path("described")
public class DescribedResource implements Described {
    @Override
    public String get() {
        return "described";
    }
}
