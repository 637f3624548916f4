// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.changes.ChangeSamples.policy;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.core.operations.ChangeStore;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ChangeCodecTest {
    private static final String SECRET = "0123456789abcdef0123456789abcdef";

    private final ChangeCodec unsigned = new ChangeCodec("shop", Optional.empty());
    private final ChangeCodec signed = new ChangeCodec("shop", Optional.of(SECRET));

    private static ChangeState sample() {
        return ChangeState.EMPTY.with(policy(1, "api", "limit", "5/1s")).with(policy(2, "login", "mode", "off"));
    }

    @Test
    void randomStatesAndEntriesAreReadAsTheyWereWritten() throws UntrustedChangesException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (ChangeCodec codec : List.of(unsigned, signed)) {
            ChangeState state = ChangeState.EMPTY;
            for (int number = 1; number <= 200; number++) {
                RuntimeChange change = ChangeSamples.random(number, random);
                state = state.with(change);
                assertThat(codec.decodeEntry(codec.encode(change)))
                        .as("seed %d", seed)
                        .isEqualTo(change);
                assertThat(codec.decodeState(codec.encode(state)))
                        .as("seed %d", seed)
                        .isEqualTo(state);
            }
        }
    }

    /** Instances of several versions read the same changes. If this fails, the form has changed: give it another number. */
    @Test
    void theBytesOfTheFormAreFixed() throws NoSuchAlgorithmException {
        Random random = new Random(7);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        ChangeState state = ChangeState.EMPTY;
        for (int number = 1; number <= 50; number++) {
            RuntimeChange change = ChangeSamples.random(number, random);
            state = state.with(change);
            digest.update(unsigned.encode(change));
        }
        digest.update(unsigned.encode(state));
        assertThat(HexFormat.of().formatHex(digest.digest(), 0, 8)).isEqualTo("085a980b549bf662");
    }

    @Test
    void damagedContentsAreRejectedWithoutAnotherException() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] state = unsigned.encode(sample());
        byte[] entry = unsigned.encode(policy(1, "api", "limit", "5/1s"));
        for (int i = 0; i < 20_000; i++) {
            read(damaged(state, random), seed);
            read(damaged(entry, random), seed);
        }
    }

    private static byte[] damaged(byte[] bytes, Random random) {
        byte[] damaged = Arrays.copyOf(bytes, random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length);
        for (int i = random.nextInt(4); i >= 0 && damaged.length > 0; i--) {
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
        }
        return damaged;
    }

    private void read(byte[] bytes, long seed) {
        for (ChangeCodec codec : List.of(unsigned, signed)) {
            try {
                codec.decodeState(bytes);
            } catch (UntrustedChangesException e) {
                assertThat(e).hasMessageNotContaining("5/1s");
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
            try {
                codec.decodeEntry(bytes);
            } catch (UntrustedChangesException e) {
                assertThat(e).hasMessageNotContaining("5/1s");
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    @Test
    void eachChangedByteOfASignedStateIsFound() {
        byte[] state = signed.encode(sample());
        for (int i = 0; i < state.length; i++) {
            byte[] changed = state.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> signed.decodeState(changed))
                    .as("byte %d", i)
                    .isInstanceOf(UntrustedChangesException.class);
        }
    }

    @Test
    void signaturesOfOthersAreRejected() {
        RuntimeChange change = policy(1, "api", "limit", "5/1s");
        for (ChangeCodec other : List.of(
                unsigned,
                new ChangeCodec("other", Optional.of(SECRET)),
                new ChangeCodec("shop", Optional.of(SECRET + "x")))) {
            assertThatThrownBy(() -> signed.decodeState(other.encode(sample())))
                    .isInstanceOf(UntrustedChangesException.class);
            assertThatThrownBy(() -> signed.decodeEntry(other.encode(change)))
                    .isInstanceOf(UntrustedChangesException.class);
        }
        assertThatThrownBy(() -> unsigned.decodeState(signed.encode(sample())))
                .isInstanceOf(UntrustedChangesException.class)
                .hasMessageContaining("no key secret");
    }

    @Test
    void aSignedEntryIsNoStateAndItsTagIsSigned() {
        byte[] state = signed.encode(sample());
        String text = new String(state, UTF_8);
        byte[] otherTag = ("9" + text.substring(0, text.indexOf('\n') + 1)).getBytes(UTF_8);
        byte[] moved = Arrays.copyOf(otherTag, otherTag.length + state.length - otherTag.length + 1);
        System.arraycopy(state, otherTag.length - 1, moved, otherTag.length, state.length - otherTag.length + 1);
        assertThatThrownBy(() -> signed.decodeState(moved)).hasMessageContaining("signature");
        byte[] entry = signed.encode(policy(1, "api", "limit", "5/1s"));
        byte[] asState = new byte[entry.length + 4];
        System.arraycopy("1-1\n".getBytes(UTF_8), 0, asState, 0, 4);
        System.arraycopy(entry, 0, asState, 4, entry.length);
        assertThatThrownBy(() -> signed.decodeState(asState)).hasMessageContaining("signature");
    }

    @Test
    void sizesAreBounded() {
        List<RuntimeChange> changes = new ArrayList<>();
        for (int i = 1; i <= ChangeState.MAX_ACTIVE + 1; i++) {
            changes.add(policy(i, "p" + i, "limit", "5/1s"));
        }
        ChangeState most = new ChangeState(5_000, ChangeSamples.START, changes.subList(0, ChangeState.MAX_ACTIVE));
        assertThat(unsigned.encode(most)).hasSizeLessThan(ChangeStore.MAX_STATE_BYTES);
        assertThatThrownBy(() -> unsigned.encode(new ChangeState(5_000, ChangeSamples.START, changes)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1000 changes");
        assertThatThrownBy(() -> unsigned.encode(policy(1, "api", "limit", "5".repeat(9_000))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8192");
    }

    @Test
    void whatNoInstanceCanReadIsNotWritten() {
        RuntimeChange valid = policy(1, "api", "limit", "5/1s");
        assertThat(unsigned.encode(with(valid, "a".repeat(200), "b".repeat(200))))
                .isNotEmpty();
        for (RuntimeChange invalid : List.of(
                with(valid, "a".repeat(201), "reason"),
                with(valid, "alice\nWEIR-000 forged", "reason"),
                with(valid, "alice", "reason\u0085"),
                with(valid, "alice", "reason\u2028"),
                with(valid, "alice", "b".repeat(70_000)),
                policy(1, "no policy", "limit", "5/1s"),
                policy(1_000_000_000_000_000L, "api", "limit", "5/1s"))) {
            for (ChangeCodec codec : List.of(unsigned, signed)) {
                assertThatThrownBy(() -> codec.encode(ChangeState.EMPTY.with(invalid)))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
        assertThatThrownBy(() -> unsigned.encode(with(valid, "alice\n", "reason")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static RuntimeChange with(RuntimeChange change, String author, String reason) {
        return new RuntimeChange(
                change.number(),
                change.subject(),
                change.values(),
                change.before(),
                author,
                reason,
                change.at(),
                change.until(),
                change.undoes());
    }

    /** A declared number of changes or of bytes reserves no memory. */
    @Test
    @Tag("field")
    void aDeclaredSizeIsNoReservation() {
        for (int declared : new int[] {-1, 1, ChangeState.MAX_ACTIVE, Integer.MAX_VALUE}) {
            byte[] state = ("1-1\n\1" + "....").getBytes(ISO_8859_1);
            ByteBuffer.wrap(state).putInt(state.length - 4, declared);
            long before = allocated();
            assertThatThrownBy(() -> unsigned.decodeState(state)).isInstanceOf(UntrustedChangesException.class);
            assertThat(allocated() - before).isLessThan(10_000_000);
        }
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
