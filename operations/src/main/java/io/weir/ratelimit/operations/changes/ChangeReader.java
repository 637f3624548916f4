// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A reader of bodies. Everyone who can write to the store can write a body, so each value is checked. */
final class ChangeReader {
    static final int MAX_TAG = 64;

    /** The longest reason and the longest name of an author. */
    static final int MAX_TEXT = 200;

    /** The greatest number of values of one change. */
    static final int MAX_VALUES = 16;

    /** The longest value of an attribute. */
    static final int MAX_VALUE = 500;

    private static final long MAX_NUMBER = 1L << 53;
    private static final Pattern TAG = Pattern.compile("([1-9][0-9]{0,14})-([0-9]{1,15})");
    private static final Pattern POLICY = Pattern.compile("[A-Za-z0-9._$-]{1,128}");
    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9.-]{1,64}");
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]");
    static final Pattern STORED_KEY = Pattern.compile("[!-~&&[^{}:]]{1,4096}");

    private final DataInputStream in;

    private ChangeReader(byte[] body) {
        this.in = new DataInputStream(new ByteArrayInputStream(body));
    }

    static ChangeState state(String tag, byte[] body) throws UntrustedChangesException {
        Matcher parts = TAG.matcher(tag);
        if (!parts.matches()) {
            throw new UntrustedChangesException("the tag has another form");
        }
        long number = Long.parseLong(parts.group(1));
        Instant written = Instant.ofEpochMilli(Long.parseLong(parts.group(2)));
        return new ChangeReader(body).read(reader -> new ChangeState(number, written, reader.changes(number)));
    }

    static RuntimeChange entry(byte[] body) throws UntrustedChangesException {
        return new ChangeReader(body).read(ChangeReader::change);
    }

    @FunctionalInterface
    private interface Part<T> {
        T read(ChangeReader reader) throws IOException;
    }

    private <T> T read(Part<T> part) throws UntrustedChangesException {
        try {
            check(in.readByte() == ChangeCodec.FORM);
            T value = part.read(this);
            check(in.read() < 0);
            return value;
        } catch (IOException | IllegalArgumentException e) {
            throw new UntrustedChangesException("the changes cannot be read");
        }
    }

    private List<RuntimeChange> changes(long last) throws IOException {
        int size = in.readInt();
        check(size >= 0 && size <= ChangeState.MAX_ACTIVE);
        List<RuntimeChange> changes = new ArrayList<>();
        long before = 0;
        for (int i = 0; i < size; i++) {
            RuntimeChange change = change();
            check(change.number() > before && change.number() <= last);
            before = change.number();
            changes.add(change);
        }
        return changes;
    }

    private RuntimeChange change() throws IOException {
        long number = in.readLong();
        check(number > 0 && number <= MAX_NUMBER);
        Kind kind = Kind.valueOf(in.readUTF());
        String policy = in.readUTF();
        check(POLICY.matcher(policy).matches());
        String storedKey = in.readUTF();
        check(
                storedKey.isEmpty()
                        ? kind == Kind.POLICY
                        : kind != Kind.POLICY && STORED_KEY.matcher(storedKey).matches());
        RuntimeChange.Subject subject = new RuntimeChange.Subject(
                kind, policy, storedKey.isEmpty() ? Optional.empty() : Optional.of(storedKey));
        return new RuntimeChange(
                number, subject, values(), values(), text(MAX_TEXT), text(MAX_TEXT), instant(), end(), undoes());
    }

    private Map<String, String> values() throws IOException {
        int size = in.readUnsignedByte();
        check(size <= MAX_VALUES);
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < size; i++) {
            String attribute = in.readUTF();
            check(ATTRIBUTE.matcher(attribute).matches());
            values.put(attribute, text(MAX_VALUE));
        }
        return values;
    }

    /** Reads a text that can be a part of a line of the log. */
    private String text(int max) throws IOException {
        String text = in.readUTF();
        check(text.length() <= max && !UNPRINTABLE.matcher(text).find());
        return text;
    }

    private Instant instant() throws IOException {
        return Instant.ofEpochMilli(millis());
    }

    private Optional<Instant> end() throws IOException {
        long millis = millis();
        return millis == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
    }

    private OptionalLong undoes() throws IOException {
        long number = in.readLong();
        check(number >= 0 && number <= MAX_NUMBER);
        return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    private long millis() throws IOException {
        long millis = in.readLong();
        check(millis >= 0 && millis < 1_000_000_000_000_000L);
        return millis;
    }

    private static void check(boolean valid) throws IOException {
        if (!valid) {
            throw new EOFException("a value is out of range");
        }
    }
}
