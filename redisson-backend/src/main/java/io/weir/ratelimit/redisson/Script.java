// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A script with the digest by which Redis identifies it.
 *
 * @param text the source
 * @param digest the SHA-1 digest of the source, in hexadecimal
 */
record Script(String text, String digest) {
    /** Decides on charges; the header of the resource describes its arguments and its reply. */
    static final Script ACQUIRE = of("acquire.lua");

    /** Refunds charges and removes states; the header of the resource describes its arguments and its reply. */
    static final Script REFUND = of("refund.lua");

    private static Script of(String name) {
        String text = read("state.lua") + read("log.lua") + read(name);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return new Script(text, HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-1 is part of every Java platform", e);
        }
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
