// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import io.weir.ratelimit.it.prose.Passage.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Splits Markdown into passages. Code blocks, code spans, link targets, comments and HTML tags are not prose. */
final class Markdown {
    private static final Pattern FENCE = Pattern.compile("^\\s*(?:```|~~~)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6}\\s+");
    private static final Pattern ITEM = Pattern.compile("^\\s*(?:>\\s?)*(?:[-*+]|\\d+[.)])\\s+");
    private static final Pattern RULE_OR_REFERENCE = Pattern.compile("^\\s*(?:\\|?[-: |]+\\|?|\\[[^]]+]:\\s.*)$");
    private static final Pattern COMMENT = Pattern.compile("(?s)<!--.*?-->");
    private static final Pattern CELL_BORDER = Pattern.compile("(?<!\\\\)\\|");

    private final List<Passage> passages = new ArrayList<>();
    private boolean inParagraph;

    private Markdown() {}

    static List<Passage> passages(String text) {
        Markdown markdown = new Markdown();
        String withoutComments = COMMENT.matcher(text)
                .replaceAll(comment -> "\n".repeat((int)
                        comment.group().chars().filter(c -> c == '\n').count()));
        boolean inCode = false;
        List<String> lines = withoutComments.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean fence = FENCE.matcher(line).find();
            if (fence || inCode) {
                inCode ^= fence;
                markdown.inParagraph = false;
            } else {
                markdown.add(i + 1, line);
            }
        }
        return markdown.passages;
    }

    private void add(int number, String line) {
        String plain = plain(line);
        if (plain.isBlank() || RULE_OR_REFERENCE.matcher(line).matches()) {
            inParagraph = false;
        } else if (HEADING.matcher(line).find()) {
            add(number, Kind.HEADING, HEADING.matcher(plain).replaceFirst(""));
            inParagraph = false;
        } else if (line.stripLeading().startsWith("|")) {
            for (String cell : CELL_BORDER.split(plain)) {
                add(number, Kind.TABLE_CELL, cell);
            }
            inParagraph = false;
        } else {
            boolean item = ITEM.matcher(plain).find();
            if (inParagraph && !item) {
                Passage last = passages.remove(passages.size() - 1);
                passages.add(new Passage(last.line(), Kind.FOLLOWED_LINE, last.text()));
            }
            add(number, Kind.LINE, ITEM.matcher(plain).replaceFirst("").replaceFirst("^\\s*(?:>\\s?)+", ""));
            inParagraph = true;
        }
    }

    private void add(int line, Kind kind, String text) {
        if (!text.isBlank()) {
            passages.add(new Passage(line, kind, text.strip()));
        }
    }

    private static String plain(String line) {
        return line.replaceAll("(`+)(?!`).*?(?<!`)\\1(?!`)", Passage.CODE)
                .replaceAll("!?\\[([^]]*)]\\([^)]*\\)", "$1")
                .replaceAll("<[^>]*>", "")
                .replaceAll("\\*\\*|__", "")
                .replaceAll("(?<![\\w*])[*_](?=\\S)(.+?)(?<=\\S)[*_](?![\\w*])", "$1");
    }
}
