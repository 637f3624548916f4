// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pictures of an operator's tasks are few and small, a page shows each of them, and the script makes each of them. */
class PicturesTest {
    private static final Path DOCS = Path.of("../docs");
    private static final int MAX_PICTURES = 6;
    private static final int MAX_BYTES = 80_000;

    private static List<Path> files(String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(DOCS)) {
            return files.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    @Test
    void eachPictureIsShownAndSmall() throws IOException {
        List<Path> pictures = files(".png").stream()
                .filter(file -> file.getFileName().toString().startsWith("operator-"))
                .toList();
        assertThat(pictures).hasSizeBetween(1, MAX_PICTURES);
        List<String> pages = new ArrayList<>();
        for (Path page : files(".md")) {
            pages.add(Files.readString(page));
        }
        String script = Files.readString(Path.of("../.ci/pictures"));
        for (Path picture : pictures) {
            String name = picture.getFileName().toString();
            assertThat(Files.size(picture)).as(name).isLessThan(MAX_BYTES);
            assertThat(pages).as(name).anyMatch(page -> page.contains("images/" + name));
            assertThat(script).contains(" " + name.replaceAll("operator-(.*)\\.png", "$1") + "\n");
        }
    }
}
