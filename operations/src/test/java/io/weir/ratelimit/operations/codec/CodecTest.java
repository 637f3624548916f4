// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CodecTest {
    private static final long MEMORY = 1_000;

    private record Point(String name, long x, Optional<Double> weight) {}

    private static final Codec<List<Point>> POINTS = Codec.<Point>of(point -> new Point(
                    point.next(Codec.TEXT, Point::name),
                    point.next(Codec.LONG.where(x -> x >= 0), Point::x),
                    point.next(Codec.DOUBLE.optional(), Point::weight)))
            .list(Codec.BYTE);

    private static final List<Point> TWO =
            List.of(new Point("a", 1, Optional.empty()), new Point("b", 2, Optional.of(0.5)));

    private static List<Point> read(byte[] bytes) throws IOException {
        return POINTS.read(1, new Codec.Input(bytes, MEMORY));
    }

    @Test
    void aDescriptionWritesAndReads() throws IOException {
        byte[] bytes = POINTS.bytes(1, TWO);
        assertThat(bytes).hasSize(2 + 12 + 20);
        assertThat(read(bytes)).isEqualTo(TWO);
    }

    @Test
    void otherBytesAreNotRead() {
        byte[] bytes = POINTS.bytes(1, TWO);
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatIOException().isThrownBy(() -> read(cut));
        }
        assertThatIOException().isThrownBy(() -> read(Arrays.copyOf(bytes, bytes.length + 1)));
        assertThatIOException().isThrownBy(() -> read(POINTS.bytes(2, TWO)));
    }

    @Test
    void valuesOutOfTheirRangeAreNotRead() {
        assertThatIOException().isThrownBy(() -> read(POINTS.bytes(1, List.of(new Point("a", -1, Optional.empty())))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> POINTS.bytes(1, List.of(new Point("a".repeat(70_000), 1, Optional.empty()))));
    }

    @Test
    void aListHasAsManyElementsAsItsLengthCanStateAndAsThereAreBytes() {
        Codec<List<Boolean>> flags = Codec.BOOLEAN.list(Codec.BYTE);
        assertThat(flags.bytes(1, Collections.nCopies(255, true))).hasSize(2 + 255);
        assertThatIllegalArgumentException().isThrownBy(() -> flags.bytes(1, Collections.nCopies(256, true)));
        Codec<List<Boolean>> more = Codec.BOOLEAN.list(Codec.INT);
        for (int length : new int[] {-1, 3, Integer.MAX_VALUE}) {
            byte[] bytes = ByteBuffer.allocate(7).put((byte) 1).putInt(length).array();
            assertThatIOException().isThrownBy(() -> more.read(1, new Codec.Input(bytes, Long.MAX_VALUE)));
        }
    }

    @Test
    void aValueThatAnotherTypeDoesNotHaveIsNotRead() {
        Codec<Integer> number = Codec.TEXT.as(Integer::valueOf, String::valueOf);
        byte[] word = Codec.TEXT.bytes(1, "many");
        assertThatIOException().isThrownBy(() -> number.read(1, new Codec.Input(word, MEMORY)));
    }

    @Test
    void theMemoryOfValuesIsBounded() throws IOException {
        byte[] bytes = POINTS.bytes(1, TWO);
        Codec.Input in = new Codec.Input(bytes, MEMORY);
        POINTS.read(1, in);
        long needed = MEMORY - in.memory();
        assertThat(needed).isEqualTo(2 * 48 + 2 * (48 + "a".length()));
        assertThat(POINTS.read(1, new Codec.Input(bytes, needed))).isEqualTo(TWO);
        assertThatIOException().isThrownBy(() -> POINTS.read(1, new Codec.Input(bytes, needed - 1)));
    }

    @Test
    void aChargedValueNeedsMemory() throws IOException {
        byte[] bytes = Codec.LONG.bytes(1, 7L);
        Codec.Input in = new Codec.Input(bytes, MEMORY);
        assertThat(Codec.LONG.charged().read(1, in)).isEqualTo(7);
        assertThat(in.memory()).isEqualTo(MEMORY - 48);
    }

    @Test
    void anotherTypeHasTheSameBytes() throws IOException {
        Codec<Integer> length = Codec.TEXT.as(Integer::valueOf, String::valueOf);
        assertThat(length.bytes(1, 42)).isEqualTo(Codec.TEXT.bytes(1, "42"));
        assertThat(length.read(1, new Codec.Input(length.bytes(1, 42), MEMORY))).isEqualTo(42);
    }
}
