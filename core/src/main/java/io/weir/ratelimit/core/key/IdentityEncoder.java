// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.Identity;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An encoder of keys as stored keys: {@code <kind>.[<name>.]<value>}, with the parts joined by {@code +}.
 *
 * <p>Values are percent-encoded outside {@code A-Z a-z 0-9 . - _ @}, so that no client can insert a separator, a brace or a line
 * break. A value is replaced by {@code ~} and 128 bits of a hash in three cases: its encoded form is longer than 64 characters,
 * it is a secret (a header or a cookie), or a key secret is configured. The hash is HMAC-SHA-256 with the key secret, otherwise
 * SHA-256. No two keys have the same stored key. The encoding is part of the stored format.
 */
public final class IdentityEncoder {
    private static final int LONGEST = 64;
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();
    private static final String SHA_256 = "SHA-256";
    private static final Set<Identity.Kind> SECRET = EnumSet.of(Identity.Kind.HEADER, Identity.Kind.COOKIE);

    private static final int LONGEST_STORED = 4_096;
    private static final String SHARED = "(?:all|anon)";
    private static final String HASHED = Arrays.stream(Identity.Kind.values())
            .map(Identity.Kind::prefix)
            .collect(Collectors.joining(
                    "|", "(?:(?:", ")(?:\\.(?:[A-Za-z0-9_@-]|%[0-9A-F]{2}){1,576})?\\.~[A-Za-z0-9_-]{22})"));
    private static final Pattern ALL_SHARED = Pattern.compile(SHARED + "(?:\\+" + SHARED + ")*+");
    private static final Pattern ALL_HASHED = Pattern.compile("(?:HASHED|SHARED)(?:\\+(?:HASHED|SHARED))*+"
            .replace("HASHED", HASHED)
            .replace("SHARED", SHARED));

    private final @Nullable KeyedHash hmac;

    /** Creates an encoder that hashes all values with the key secret, if one is configured. */
    public IdentityEncoder(Optional<String> secret) {
        this.hmac = secret.map(KeyedHash::of).orElse(null);
    }

    public String encode(Identity key) {
        if (key.equals(Identity.GLOBAL)) {
            return Identity.Kind.GLOBAL.prefix();
        }
        StringBuilder text = new StringBuilder(32);
        for (Identity.Part part : key.parts()) {
            if (text.length() > 0) {
                text.append('+');
            }
            text.append(part.kind().prefix());
            if (!part.name().isEmpty()) {
                text.append('.');
                appendEncoded(text, part.name(), false);
            }
            if (part.kind() != Identity.Kind.GLOBAL && part.kind() != Identity.Kind.ANONYMOUS) {
                appendValue(text.append('.'), part);
            }
        }
        return text.toString();
    }

    private void appendValue(StringBuilder text, Identity.Part part) {
        int start = text.length();
        if (hmac == null && !SECRET.contains(part.kind()) && part.value().length() <= LONGEST) {
            appendEncoded(text, part.value(), true);
            if (text.length() - start <= LONGEST) {
                return;
            }
            text.setLength(start);
        }
        text.append('~').append(hash(part));
    }

    private static void appendEncoded(StringBuilder text, String value, boolean dots) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (isPlain(c) || (c == '.' && dots)) {
                text.append(c);
            } else {
                int point = value.codePointAt(i);
                i += Character.charCount(point) - 1;
                for (byte b : utf8(Character.toString(point))) {
                    text.append('%').append(HEX[b >> 4 & 0xf]).append(HEX[b & 0xf]);
                }
            }
        }
    }

    /** Tests for a letter or a digit of ASCII. */
    static boolean isLetterOrDigit(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }

    private static boolean isPlain(char c) {
        return isLetterOrDigit(c) || c == '-' || c == '_' || c == '@';
    }

    /**
     * Returns UTF-8 in which a lone surrogate has three bytes. The platform's encoder writes a question mark for each, so
     * different texts would share a key.
     */
    private static byte[] utf8(String value) {
        if (value.chars().noneMatch(c -> Character.isSurrogate((char) c))) {
            return value.getBytes(StandardCharsets.UTF_8);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(value.length() * 3);
        value.codePoints().forEach(point -> {
            if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                bytes.write(0xE0 | (point >> 12));
                bytes.write(0x80 | (point >> 6 & 0x3F));
                bytes.write(0x80 | (point & 0x3F));
            } else {
                bytes.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }

    /** Returns a hash of the kind, the name and the value, so that equal values of different parts have different hashes. */
    private String hash(Identity.Part part) {
        byte[] value = utf8(part.kind().prefix() + '\0' + part.name() + '\0' + part.value());
        return hmac == null ? KeyedHash.text(sha256(value)) : hmac.hash(value);
    }

    /** Tests whether a text is the stored key of a key that all callers share. */
    static boolean isShared(String text) {
        return text.length() <= LONGEST_STORED && ALL_SHARED.matcher(text).matches();
    }

    /** Tests whether a text has the form of a stored key with hashed values. */
    static boolean isHashed(String text) {
        return text.length() <= LONGEST_STORED && ALL_HASHED.matcher(text).matches();
    }

    /** Returns the SHA-256 hash of a value. */
    public static byte[] sha256(byte[] value) {
        try {
            return MessageDigest.getInstance(SHA_256).digest(value);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(SHA_256 + " is part of every Java platform", e);
        }
    }
}
