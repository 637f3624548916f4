// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.URI;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The release of slots on Quarkus. */
class QuarkusSlotsTest implements SlotContract {
    @RegisterExtension
    static final QuarkusProgram PROGRAM = new QuarkusProgram("slots", Map.of());

    private final String client = UUID.randomUUID().toString();

    @Override
    public URI base() {
        return PROGRAM.base();
    }

    @Override
    public String client() {
        return client;
    }

    @Override
    public boolean hasServlets() {
        return false;
    }
}
