// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A script with the digest by which Redis identifies it.
 *
 * @param text the source
 * @param digest the SHA-1 digest of the source, in hexadecimal
 */
record Script(String text, String digest) {
    /** Decides on charges; the header of the resource describes its arguments and its reply. */
    static final Script ACQUIRE =
            of("clock.lua", "plain.lua", "state.lua", "log.lua", "calendar.lua", "slots.lua", "acquire.lua");

    /** Refunds charges and removes states; the header of the resource describes its arguments and its reply. */
    static final Script REFUND = of("clock.lua", "state.lua", "log.lua", "calendar.lua", "refund.lua");

    /** Releases and renews slots; the header of the resource describes its arguments and its reply. */
    static final Script RELEASE = of("clock.lua", "state.lua", "slots.lua", "release.lua");

    /** Checks the server; the header of the resource describes its arguments and its reply. */
    static final Script CHECK = of("check.lua");

    /** Charges more permits with earlier charges; the header of the resource describes its arguments and its reply. */
    static final Script SETTLE = of("clock.lua", "state.lua", "log.lua", "calendar.lua", "settle.lua");

    /** Blocks keys and counts rejections; the header of the resource describes its arguments and its reply. */
    static final Script BLOCK = of("clock.lua", "state.lua", "block.lua");

    /** Stores a report of an instance; the header of the resource describes its arguments and its reply. */
    static final Script REPORT = of("value.lua", "report.lua");

    /** Returns values of reports; the header of the resource describes its arguments and its reply. */
    static final Script READ = of("value.lua", "read.lua");

    /** Returns or replaces the runtime changes; the header of the resource describes its arguments and its reply. */
    static final Script CHANGES = of("value.lua", "changes.lua");

    /** Returns the source in which {@code acquire.lua} decides on plain batches as well. */
    String withoutPlain() {
        return text.replace("\nif isPlain then\n", "\nif false then\n");
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
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
