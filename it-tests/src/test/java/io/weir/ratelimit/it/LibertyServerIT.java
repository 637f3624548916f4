// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibertyServerIT {
    @TempDir
    private Path temp;

    @Test
    void tellsWhyAServerIsNotReady() {
        assertThatThrownBy(() -> LibertyServer.named("unready").war(broken()).start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("WELD-001408");
    }

    private Path broken() {
        Path war = temp.resolve("broken.war");
        ShrinkWrap.create(WebArchive.class)
                .addClass(Unsatisfied.class)
                .as(ZipExporter.class)
                .exportTo(war.toFile(), true);
        return war;
    }
}
