// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChangeAuditTest {
    @Test
    void namesOfAuthorsArePrintable() {
        assertThat(ChangeAudit.author("ann\r\nWEIR-450 \u2028x\u0000"))
                .isEqualTo("ann\ufffd\ufffdWEIR-450 \ufffdx\ufffd");
        assertThat(ChangeAudit.author("x".repeat(300))).hasSize(200).endsWith("…");
        assertThat(ChangeAudit.author("x".repeat(198) + "\ud83d\ude00xx")).isEqualTo("x".repeat(198) + "…");
    }
}
