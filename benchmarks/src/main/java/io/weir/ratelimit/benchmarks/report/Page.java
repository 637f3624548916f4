// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A document with blocks between markers. The last marker of a block has a digest, so that a test finds edits by hand. */
final class Page {
    private static final Pattern BLOCK = Pattern.compile(
            "(?ms)^<!-- figures: (?<part>[a-z-]+)/(?<name>[^|\n]+) \\| (?<command>[^>\n]+) -->\n(?<text>.*?)^<!-- end of figures: [0-9a-f]* -->$");
    private static final Pattern COMMIT = Pattern.compile("(?m)^Measured on \\S+ at commit `([^`]+)`");
    private static final int DIGITS = 12;

    private final Path root;
    private final Path file;
    private String text;

    private Page(Path root, Path file) throws IOException {
        this.root = root;
        this.file = file;
        this.text = Files.readString(file);
    }

    /** Returns all pages with blocks, of which each is written when it changes. */
    static List<Page> in(Path root) throws IOException {
        try (Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            List<Path> files = Stream.concat(Stream.of(root.resolve("README.md")), docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
            List<Page> pages = new ArrayList<>();
            for (Path file : files) {
                Page page = new Page(root, file);
                if (BLOCK.matcher(page.text).find()) {
                    pages.add(page);
                }
            }
            return pages;
        }
    }

    /** Returns the path from this page to a file of the repository. */
    String linkTo(String path) {
        return file.resolveSibling("").relativize(root.resolve(path)).toString().replace('\\', '/');
    }

    /** Returns whether this is a file, given from the root of the repository. */
    boolean isFile(String path) {
        return file.equals(root.resolve(path));
    }

    /** Returns the names of the blocks of a part. */
    Set<String> blocks(String part) {
        Set<String> names = new TreeSet<>();
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            if (block.group("part").equals(part)) {
                names.add(block.group("name"));
            }
        }
        return names;
    }

    /** Returns the commits of the tables. */
    Set<String> commits() {
        Set<String> commits = new TreeSet<>();
        Matcher commit = COMMIT.matcher(text);
        while (commit.find()) {
            commits.add(commit.group(1));
        }
        return commits;
    }

    /**
     * Replaces the contents of a block.
     *
     * @param command what writes it
     */
    void replace(String part, String name, String command, String contents) throws IOException {
        String replaced = BLOCK.matcher(text)
                .replaceAll(block -> Matcher.quoteReplacement(
                        is(block, part, name) ? block(part, name, command, contents) : block.group()));
        if (!replaced.equals(text)) {
            text = replaced;
            Files.writeString(file, text);
        }
    }

    private static boolean is(MatchResult block, String part, String name) {
        return block.group(1).equals(part) && block.group(2).equals(name);
    }

    static String block(String part, String name, String command, String contents) {
        String first = "<!-- figures: " + part + "/" + name + " | " + command + " -->\n";
        String body = first + "\n" + contents.strip() + "\n\n";
        return body + "<!-- end of figures: " + digest(body) + " -->";
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return HexFormat.of().formatHex(hash).substring(0, DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
