// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import io.weir.ratelimit.it.prose.Passage.Kind;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Kinds of files with one text per line. Placeholders and shell variables are not prose. */
enum Texts {
    MESSAGE_BUNDLE("^[^#=][^=]*=(.*)$"),
    ALERT_RULES("^\\s+(?:summary|description): \"?(.*?)\"?$"),
    DASHBOARD("^\\s*\"(?:title|description)\": \"(.*)\",?$");

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{+[^}]*}+|\"?\\$\\w+\"?");

    private final Pattern line;

    Texts(String line) {
        this.line = Pattern.compile(line);
    }

    List<Passage> passages(String file) {
        List<String> lines = file.lines().toList();
        return IntStream.range(0, lines.size())
                .boxed()
                .flatMap(i -> text(lines.get(i)).map(text -> new Passage(i + 1, Kind.MESSAGE, text)))
                .toList();
    }

    private Stream<String> text(String of) {
        Matcher text = line.matcher(of);
        return text.matches()
                ? Stream.of(
                        PLACEHOLDER.matcher(text.group(1).replace("''", "'")).replaceAll(Passage.CODE))
                : Stream.empty();
    }
}
