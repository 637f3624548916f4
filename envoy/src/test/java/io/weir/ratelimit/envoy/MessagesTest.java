// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.MessageCheck;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MessagesTest {
    @Test
    void eachCallHasAMessageAndEachMessageHasACall() {
        assertThat(MessageCheck.errors(Path.of(""))).isEmpty();
    }
}
