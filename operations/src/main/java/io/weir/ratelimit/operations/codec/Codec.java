// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.codec;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A codec of values as bytes. One description of a record writes it and reads it, so that both have the same form. Everyone who can write
 * to a store can write such bytes, so a description states the range of each value.
 */
public record Codec<T>(Writer<T> writer, Reader<T> reader) {
    public static final Codec<Long> LONG = new Codec<>(DataOutputStream::writeLong, DataInputStream::readLong);
    public static final Codec<Integer> INT = new Codec<>(DataOutputStream::writeInt, DataInputStream::readInt);
    public static final Codec<Integer> BYTE = new Codec<>(
            (out, value) -> {
                if (value != (value & 0xff)) {
                    throw new IllegalArgumentException("a value is too long");
                }
                out.writeByte(value);
            },
            DataInputStream::readUnsignedByte);
    public static final Codec<Double> DOUBLE = new Codec<>(DataOutputStream::writeDouble, DataInputStream::readDouble);
    public static final Codec<Boolean> BOOLEAN =
            new Codec<>(DataOutputStream::writeBoolean, DataInputStream::readBoolean);
    public static final Codec<String> TEXT = new Codec<>(DataOutputStream::writeUTF, in -> {
        String text = in.readUTF();
        in.take(Input.OBJECT_BYTES + text.length());
        return text;
    });

    /** Writes a value. */
    @FunctionalInterface
    public interface Writer<T> {
        void write(DataOutputStream out, T value) throws IOException;
    }

    /** Reads a value. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(Input in) throws IOException;
    }

    /** Describes a record: asks for its fields in the order of their bytes, and creates it from them. */
    @FunctionalInterface
    public interface Description<R> {
        R create(Fields<R> fields) throws IOException;
    }

    /** The fields of a record that is written or read. */
    public interface Fields<R> {
        /** Returns the next field: that of the record, after it is written, or the one that is read. */
        <T> T next(Codec<T> codec, Function<R, T> field) throws IOException;
    }

    private record WrittenFields<R>(R value, DataOutputStream out) implements Fields<R> {
        @Override
        public <T> T next(Codec<T> codec, Function<R, T> field) throws IOException {
            T next = field.apply(value);
            codec.writer.write(out, next);
            return next;
        }
    }

    private record ReadFields<R>(Input in) implements Fields<R> {
        @Override
        public <T> T next(Codec<T> codec, Function<R, T> field) throws IOException {
            return codec.reader.read(in);
        }
    }

    /** Bytes with a bound of the memory that their values need, because a short element can need much more memory than its bytes. */
    public static final class Input extends DataInputStream {
        /** The estimated memory of a text in addition to its characters, and of an element of a list. */
        private static final int OBJECT_BYTES = 48;

        private long memory;

        /** Creates an input whose values may need as many bytes of memory. */
        public Input(byte[] bytes, long memory) {
            super(new ByteArrayInputStream(bytes));
            this.memory = memory;
        }

        /** Returns the memory that is left. */
        public long memory() {
            return memory;
        }

        private void take(long bytes) throws IOException {
            memory -= bytes;
            check(memory >= 0);
        }
    }

    /** Returns the codec of a record. */
    public static <R> Codec<R> of(Description<R> description) {
        return new Codec<>(
                (out, value) -> description.create(new WrittenFields<>(value, out)),
                in -> description.create(new ReadFields<>(in)));
    }

    /** Returns a codec that reads only valid values. */
    public Codec<T> where(Predicate<T> valid) {
        return new Codec<>(writer, in -> {
            T value = reader.read(in);
            check(valid.test(value));
            return value;
        });
    }

    /** Returns a codec that takes the memory of an element, for values of a map. */
    public Codec<T> charged() {
        return new Codec<>(writer, in -> {
            in.take(Input.OBJECT_BYTES);
            return reader.read(in);
        });
    }

    /** Returns a codec of another type with the same bytes. */
    public <U> Codec<U> as(Function<T, U> read, Function<U, T> written) {
        return new Codec<>((out, value) -> writer.write(out, written.apply(value)), in -> read.apply(reader.read(in)));
    }

    /** Returns a codec of a list after its length. Each element has at least one byte. */
    public Codec<List<T>> list(Codec<Integer> length) {
        Reader<T> element = charged().reader;
        return new Codec<>(
                (out, values) -> {
                    length.writer.write(out, values.size());
                    for (T value : values) {
                        writer.write(out, value);
                    }
                },
                in -> {
                    int size = length.reader.read(in);
                    check(size >= 0 && size <= in.available());
                    List<T> values = new ArrayList<>();
                    for (int i = 0; i < size; i++) {
                        values.add(element.read(in));
                    }
                    return values;
                });
    }

    /** Returns a codec of a value that can be absent. */
    public Codec<Optional<T>> optional() {
        return new Codec<>(
                (out, value) -> {
                    out.writeBoolean(value.isPresent());
                    if (value.isPresent()) {
                        writer.write(out, value.get());
                    }
                },
                in -> in.readBoolean() ? Optional.of(reader.read(in)) : Optional.empty());
    }

    /**
     * Returns the bytes of a value after the number of its form. Throws an {@link IllegalArgumentException} if a text or a list is too
     * long.
     */
    public byte[] bytes(int form, T value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(form);
            writer.write(out, value);
        } catch (UTFDataFormatException e) {
            throw new IllegalArgumentException("a value is too long", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a value of a form. Throws an {@link IOException} if the bytes have another form, end early or late, or have a value out of its
     * range.
     */
    public T read(int form, Input in) throws IOException {
        check(in.readByte() == form);
        try {
            T value = reader.read(in);
            check(in.read() < 0);
            return value;
        } catch (IllegalArgumentException e) {
            throw new IOException("a value is out of range", e);
        }
    }

    private static void check(boolean valid) throws IOException {
        if (!valid) {
            throw new IOException("a value is out of range");
        }
    }
}
