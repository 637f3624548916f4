// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.operations.ChangeStore;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A codec of states and of entries of the log. A state is its tag, a line feed and a sealed body; an entry is a sealed body. {@link
 * ChangeSeal} signs bodies if a secret is configured, and {@link ChangeBody} describes them.
 */
public final class ChangeCodec {
    private static final int MAX_TAG = 64;
    private static final Pattern TAG = Pattern.compile("([1-9][0-9]{0,14})-([0-9]{1,15})");

    private final ChangeSeal seal;

    /** Creates a codec. A signature covers the namespace of the instances; contents are not signed without a secret. */
    public ChangeCodec(String namespace, Optional<String> secret) {
        this.seal = new ChangeSeal(namespace, secret);
    }

    /**
     * Encodes a state. Throws an {@link IllegalArgumentException} if it has more than {@link ChangeStore#MAX_STATE_BYTES} bytes or
     * {@link ChangeState#MAX_ACTIVE} changes, or a value out of the range that instances read.
     */
    public byte[] encode(ChangeState state) {
        if (state.active().size() > ChangeState.MAX_ACTIVE) {
            throw new IllegalArgumentException("more than " + ChangeState.MAX_ACTIVE + " changes are active");
        }
        String tag = state.tag();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes((tag + "\n").getBytes(UTF_8));
        bytes.writeBytes(seal.sealed("state " + tag, ChangeBody.STATE.bytes(state.active())));
        return readable(bounded(bytes.toByteArray(), ChangeStore.MAX_STATE_BYTES), this::decodeState);
    }

    /**
     * Encodes an entry of the log. Throws an {@link IllegalArgumentException} if it has more than {@link ChangeStore#MAX_ENTRY_BYTES}
     * bytes, or a value out of the range that instances read.
     */
    public byte[] encode(RuntimeChange change) {
        byte[] entry = seal.sealed("entry", ChangeBody.ENTRY.bytes(change));
        return readable(bounded(entry, ChangeStore.MAX_ENTRY_BYTES), this::decodeEntry);
    }

    /**
     * Decodes a state from bytes of any origin.
     *
     * @throws UntrustedChangesException if the bytes are no state, or if their signature is missing or wrong
     */
    public ChangeState decodeState(byte[] bytes) throws UntrustedChangesException {
        int end = 0;
        while (end < bytes.length && end <= MAX_TAG && bytes[end] != '\n') {
            end++;
        }
        if (end >= bytes.length || bytes[end] != '\n' || bytes.length > ChangeStore.MAX_STATE_BYTES) {
            throw new UntrustedChangesException("the value is not a state of runtime changes");
        }
        String tag = new String(bytes, 0, end, UTF_8);
        Matcher parts = TAG.matcher(tag);
        if (!parts.matches()) {
            throw new UntrustedChangesException("the tag has another form");
        }
        long number = Long.parseLong(parts.group(1));
        List<RuntimeChange> active = ChangeBody.STATE.read(seal.opened("state " + tag, bytes, end + 1));
        if (active.stream().anyMatch(change -> change.number() > number)) {
            throw new UntrustedChangesException("the state is older than a change");
        }
        return new ChangeState(number, Instant.ofEpochMilli(Long.parseLong(parts.group(2))), active);
    }

    /**
     * Decodes an entry of the log from bytes of any origin.
     *
     * @throws UntrustedChangesException if the bytes are no entry, or if their signature is missing or wrong
     */
    public RuntimeChange decodeEntry(byte[] bytes) throws UntrustedChangesException {
        if (bytes.length > ChangeStore.MAX_ENTRY_BYTES) {
            throw new UntrustedChangesException("the value is not an entry of runtime changes");
        }
        return ChangeBody.ENTRY.read(seal.opened("entry", bytes, 0));
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
}
