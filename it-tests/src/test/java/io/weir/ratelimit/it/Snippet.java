// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A fenced code block of a Markdown page.
 *
 * @param language the info string of the fence
 * @param text the lines between the fences, without the indentation of the fence
 */
record Snippet(String language, String text) {
    private static final Pattern FENCE = Pattern.compile("(?ms)^( *)```(\\w+)\\n(.*?)^ *```$");

    /** Returns the snippets of a page by the second-level heading above them, in page order. */
    static Map<String, List<Snippet>> bySection(Path page) {
        Map<String, List<Snippet>> sections = new LinkedHashMap<>();
        for (String section : DocumentedNamesTest.readPath(page).split("(?m)^## ")) {
            sections.put(section.lines().findFirst().orElse(""), of(section));
        }
        return sections;
    }

    /** Returns the snippets of a page or of a part of it. */
    static List<Snippet> of(String section) {
        return FENCE.matcher(section)
                .results()
                .map(fence -> new Snippet(fence.group(2), fence.group(3).replaceAll("(?m)^" + fence.group(1), "")))
                .toList();
    }
}
