// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.runtime.HttpResource.Answer;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HttpResourceTest {
    @Test
    void anErrorHasThePageOfTheServerOrHeaders() {
        assertThat(Answer.error(404).isError()).isTrue();
        assertThat(new Answer(405, Map.of("Allow", "GET"), "").isError()).isFalse();
        assertThat(new Answer(200, Map.of(), "text").isError()).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> new Answer(500, Map.of(), "text"));
    }
}
