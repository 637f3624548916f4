// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.operations.ChangeStore;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;

/**
 * A codec of states and of entries of the log. A state is its tag, a line feed and a sealed body; an entry is a sealed body. {@link
 * ChangeSeal} signs bodies if a secret is configured, and {@link ChangeReader} reads them.
 */
public final class ChangeCodec {
    /** The form of bodies. Bodies of another form are not read. */
    static final int FORM = 1;

    private final ChangeSeal seal;

    /**
     * Creates a codec.
     *
     * @param namespace the namespace of the instances, which a signature covers
     * @param secret the key secret; empty if contents are not signed
     */
    public ChangeCodec(String namespace, Optional<String> secret) {
        this.seal = new ChangeSeal(namespace, secret);
    }

    /**
     * Encodes a state.
     *
     * @throws IllegalArgumentException if the state has more than {@link ChangeStore#MAX_STATE_BYTES} bytes or more than {@link
     *     ChangeState#MAX_ACTIVE} changes, or if a value is out of the range that instances read
     */
    public byte[] encode(ChangeState state) {
        if (state.active().size() > ChangeState.MAX_ACTIVE) {
            throw new IllegalArgumentException("more than " + ChangeState.MAX_ACTIVE + " changes are active");
        }
        String tag = state.tag();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes((tag + "\n").getBytes(UTF_8));
        bytes.writeBytes(seal.sealed("state " + tag, body(out -> {
            out.writeInt(state.active().size());
            for (RuntimeChange change : state.active()) {
                write(change, out);
            }
        })));
        return readable(bounded(bytes.toByteArray(), ChangeStore.MAX_STATE_BYTES), this::decodeState);
    }

    /**
     * Encodes an entry of the log.
     *
     * @throws IllegalArgumentException if the entry has more than {@link ChangeStore#MAX_ENTRY_BYTES} bytes, or if a value is out of the
     *     range that instances read
     */
    public byte[] encode(RuntimeChange change) {
        byte[] entry = seal.sealed("entry", body(out -> write(change, out)));
        return readable(bounded(entry, ChangeStore.MAX_ENTRY_BYTES), this::decodeEntry);
    }

    /**
     * Decodes a state.
     *
     * @param bytes bytes of any origin
     * @throws UntrustedChangesException if the bytes are no state, or if their signature is missing or wrong
     */
    public ChangeState decodeState(byte[] bytes) throws UntrustedChangesException {
        int end = 0;
        while (end < bytes.length && end <= ChangeReader.MAX_TAG && bytes[end] != '\n') {
            end++;
        }
        if (end >= bytes.length || bytes[end] != '\n' || bytes.length > ChangeStore.MAX_STATE_BYTES) {
            throw new UntrustedChangesException("the value is not a state of runtime changes");
        }
        String tag = new String(bytes, 0, end, UTF_8);
        return ChangeReader.state(tag, seal.opened("state " + tag, bytes, end + 1));
    }

    /**
     * Decodes an entry of the log.
     *
     * @param bytes bytes of any origin
     * @throws UntrustedChangesException if the bytes are no entry, or if their signature is missing or wrong
     */
    public RuntimeChange decodeEntry(byte[] bytes) throws UntrustedChangesException {
        if (bytes.length > ChangeStore.MAX_ENTRY_BYTES) {
            throw new UntrustedChangesException("the value is not an entry of runtime changes");
        }
        return ChangeReader.entry(seal.opened("entry", bytes, 0));
    }

    private static byte[] bounded(byte[] bytes, int max) {
        if (bytes.length > max) {
            throw new IllegalArgumentException("the changes have " + bytes.length + " bytes, more than " + max);
        }
        return bytes;
    }

    @FunctionalInterface
    private interface Decoder {
        Object decode(byte[] bytes) throws UntrustedChangesException;
    }

    /** Reads the bytes, because a state that no instance can read would hide all changes. */
    private static byte[] readable(byte[] bytes, Decoder decoder) {
        try {
            decoder.decode(bytes);
        } catch (UntrustedChangesException e) {
            throw new IllegalArgumentException("a value of the change is too long or unprintable", e);
        }
        return bytes;
    }

    @FunctionalInterface
    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private static byte[] body(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(FORM);
            body.write(out);
        } catch (UTFDataFormatException e) {
            throw new IllegalArgumentException("a value of the change is too long", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(RuntimeChange change, DataOutputStream out) throws IOException {
        out.writeLong(change.number());
        out.writeUTF(change.subject().kind().name());
        out.writeUTF(change.subject().policy());
        out.writeUTF(change.subject().storedKey().orElse(""));
        write(change.values(), out);
        write(change.before(), out);
        out.writeUTF(change.author());
        out.writeUTF(change.reason());
        out.writeLong(change.at().toEpochMilli());
        out.writeLong(change.until().isPresent() ? change.until().get().toEpochMilli() : 0);
        out.writeLong(change.undoes().orElse(0));
    }

    private static void write(Map<String, String> values, DataOutputStream out) throws IOException {
        out.writeByte(values.size());
        for (Map.Entry<String, String> value : values.entrySet()) {
            out.writeUTF(value.getKey());
            out.writeUTF(value.getValue());
        }
    }
}
