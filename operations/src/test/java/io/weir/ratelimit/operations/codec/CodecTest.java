// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.util.Arrays;
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
    void anotherTypeHasTheSameBytes() throws IOException {
        Codec<Integer> length = Codec.TEXT.as(Integer::valueOf, String::valueOf);
        assertThat(length.bytes(1, 42)).isEqualTo(Codec.TEXT.bytes(1, "42"));
        assertThat(length.read(1, new Codec.Input(length.bytes(1, 42), MEMORY))).isEqualTo(42);
    }
}
