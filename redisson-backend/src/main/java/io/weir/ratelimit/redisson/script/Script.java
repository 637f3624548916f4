// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A script with the SHA-1 digest in hexadecimal by which Redis identifies it. */
public record Script(String text, String digest) {
    /** A line that stands for the text of another resource. */
    private static final Pattern INCLUDE = Pattern.compile("^--include (.+)\n", Pattern.MULTILINE);

    /** Decides on charges; the header of the resource describes its arguments and its reply. */
    public static final Script ACQUIRE = of("clock.lua", "acquire.lua");

    /** Refunds charges, charges more with them, and removes states; the header of the resource describes its arguments and its reply. */
    public static final Script REFUND = of("clock.lua", "state.lua", "log.lua", "refund.lua");

    /** Releases and renews slots; the header of the resource describes its arguments and its reply. */
    public static final Script RELEASE = of("clock.lua", "state.lua", "slots.lua", "release.lua");

    /** Checks the server; the header of the resource describes its arguments and its reply. */
    public static final Script CHECK = of("check.lua");

    /** Blocks keys and counts rejections; the header of the resource describes its arguments and its reply. */
    public static final Script BLOCK = of("clock.lua", "state.lua", "block.lua");

    /** Stores a report of an instance; the header of the resource describes its arguments and its reply. */
    public static final Script REPORT = of("value.lua", "report.lua");

    /** Returns values of reports; the header of the resource describes its arguments and its reply. */
    public static final Script READ = of("value.lua", "read.lua");

    /** Returns or replaces the runtime changes; the header of the resource describes its arguments and its reply. */
    public static final Script CHANGES = of("value.lua", "changes.lua");

    /** Returns the source in which {@code general.lua} decides on all groups. */
    public String withoutPlain() {
        return text.replace("local isPlain, decide = true, nil", "local isPlain, decide = false, nil");
    }

    private static Script of(String... names) {
        String text = Stream.of(names).map(Script::read).collect(Collectors.joining());
        return new Script(text, ScriptDigest.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String read(String name) {
        String path = "/META-INF/weir/lua/" + name;
        try (InputStream in = Script.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the resource " + path + " is missing");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return INCLUDE.matcher(text).replaceAll(include -> Matcher.quoteReplacement(read(include.group(1))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
