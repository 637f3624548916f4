// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.codec.Codec;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The bodies of states and of entries of the log, with the range of each value. */
record ChangeBody<T>(Codec<T> codec) {
    /** The longest reason and the longest name of an author. */
    static final int MAX_TEXT = 200;

    /** The greatest number of values of one change. */
    static final int MAX_VALUES = 16;

    /** The longest value of an attribute. */
    static final int MAX_VALUE = 500;

    static final Pattern STORED_KEY = Pattern.compile("[!-~&&[^{}:]]{1,4096}");

    /** The form of bodies. Bodies of another form are not read. */
    private static final int FORM = 1;

    private static final Pattern POLICY = Pattern.compile("[A-Za-z0-9._$-]{1,128}");
    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9.-]{1,64}");
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]");

    /** A number of a change; zero if there is none. */
    private static final Codec<Long> NUMBER = Codec.LONG.where(number -> number >= 0 && number <= 1L << 53);

    private static final Codec<Long> MILLIS =
            Codec.LONG.where(millis -> millis >= 0 && millis < 1_000_000_000_000_000L);

    private static final Codec<RuntimeChange.Subject> SUBJECT = Codec.<RuntimeChange.Subject>of(subject ->
                    new RuntimeChange.Subject(
                            subject.next(Codec.TEXT.as(Kind::valueOf, Kind::name), RuntimeChange.Subject::kind),
                            subject.next(matching(POLICY), RuntimeChange.Subject::policy),
                            subject.next(
                                    Codec.TEXT.as(ChangeBody::key, key -> key.orElse("")),
                                    RuntimeChange.Subject::storedKey)))
            .where(subject -> subject.storedKey()
                    .map(key -> subject.kind() != Kind.POLICY
                            && STORED_KEY.matcher(key).matches())
                    .orElse(subject.kind() == Kind.POLICY));

    private static final Codec<Map<String, String>> VALUES = Codec.<Map.Entry<String, String>>of(value -> Map.entry(
                    value.next(matching(ATTRIBUTE), Map.Entry::getKey),
                    value.next(line(MAX_VALUE), Map.Entry::getValue)))
            .list(Codec.BYTE.where(size -> size <= MAX_VALUES))
            .as(ChangeBody::byAttribute, values -> List.copyOf(values.entrySet()));

    private static final Codec<RuntimeChange> CHANGE = Codec.of(change -> new RuntimeChange(
            change.next(NUMBER.where(number -> number > 0), RuntimeChange::number),
            change.next(SUBJECT, RuntimeChange::subject),
            change.next(VALUES, RuntimeChange::values),
            change.next(VALUES, RuntimeChange::before),
            change.next(line(MAX_TEXT), RuntimeChange::author),
            change.next(line(MAX_TEXT), RuntimeChange::reason),
            change.next(MILLIS.as(Instant::ofEpochMilli, Instant::toEpochMilli), RuntimeChange::at),
            change.next(
                    MILLIS.as(
                            ChangeBody::end,
                            end -> end.map(Instant::toEpochMilli).orElse(0L)),
                    RuntimeChange::until),
            change.next(NUMBER.as(ChangeBody::undone, undone -> undone.orElse(0)), RuntimeChange::undoes)));

    /** The body of an entry. */
    static final ChangeBody<RuntimeChange> ENTRY = new ChangeBody<>(CHANGE);

    /** The body of a state: its changes in the order of their numbers. */
    static final ChangeBody<List<RuntimeChange>> STATE = new ChangeBody<>(
            CHANGE.list(Codec.INT.where(size -> size <= ChangeState.MAX_ACTIVE)).where(ChangeBody::isAscending));

    byte[] bytes(T value) {
        return codec.bytes(FORM, value);
    }

    T read(byte[] body) throws UntrustedChangesException {
        try {
            return codec.read(FORM, new Codec.Input(body, Long.MAX_VALUE));
        } catch (IOException e) {
            throw new UntrustedChangesException("the changes cannot be read");
        }
    }

    private static Codec<String> matching(Pattern pattern) {
        return Codec.TEXT.where(text -> pattern.matcher(text).matches());
    }

    /** Returns the codec of a text that can be a part of a line of the log. */
    private static Codec<String> line(int max) {
        return Codec.TEXT.where(
                text -> text.length() <= max && !UNPRINTABLE.matcher(text).find());
    }

    private static Optional<String> key(String key) {
        return Optional.of(key).filter(text -> !text.isEmpty());
    }

    private static Optional<Instant> end(long millis) {
        return millis == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
    }

    private static OptionalLong undone(long number) {
        return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    private static Map<String, String> byAttribute(List<Map.Entry<String, String>> values) {
        Map<String, String> byAttribute = new TreeMap<>();
        values.forEach(value -> byAttribute.put(value.getKey(), value.getValue()));
        return byAttribute;
    }

    private static boolean isAscending(List<RuntimeChange> changes) {
        return IntStream.range(1, changes.size())
                .allMatch(i -> changes.get(i - 1).number() < changes.get(i).number());
    }
}
