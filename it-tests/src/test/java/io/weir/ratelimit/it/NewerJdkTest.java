// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search for a newer JDK. If it finds too little, tests are skipped; if it finds too much, tests run on the old JDK. */
class NewerJdkTest {
    @TempDir
    private Path folder;

    @Test
    void selectsTheNewest() throws IOException {
        Path old = jdk("17.0.17");
        Path lts = jdk("21");
        Path newest = jdk("25.0.1");
        assertThat(NewerJdk.newest(Stream.of(newest, old, lts))).contains(new NewerJdk(newest, 25));
        assertThat(NewerJdk.newest(Stream.of(old, lts))).contains(new NewerJdk(lts, 21));
        assertThat(NewerJdk.newest(Stream.of(old, folder))).isEmpty();
    }

    @Test
    void readsTheEnvironment() throws IOException {
        Path newer = jdk("25");
        assertThat(NewerJdk.environment(Map.of("JAVA_HOME_25_X64", newer.toString(), "JAVA_HOME", "/elsewhere")))
                .containsExactly(newer);
    }

    @Test
    void rejectsAConfiguredOldJdk() throws IOException {
        Path newer = jdk("25");
        assertThat(NewerJdk.named(newer)).isEqualTo(new NewerJdk(newer, 25));
        Path old = jdk("17");
        assertThatThrownBy(() -> NewerJdk.named(old))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No JDK of version 21 or later in " + old);
    }

    private Path jdk(String version) throws IOException {
        Path home = folder.resolve(version);
        Path java =
                Files.createFile(Files.createDirectories(home.resolve("bin")).resolve("java"));
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(
                home.resolve("release"), "IMPLEMENTOR=\"any\"\nJAVA_VERSION=\"" + version + "\"\nOS_ARCH=\"any\"\n");
        return home;
    }
}
