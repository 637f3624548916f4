// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.redisson.script.Script;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The runtime changes in Redis. All keys of a namespace are in one slot. The log is a ring of values, so that the Redis user needs {@code
 * GET} and {@code SET} only.
 */
final class RedisChangeStore implements ChangeStore {
    /** The entries of one call: at most 240 KiB. */
    private static final int ENTRIES_PER_CALL = 30;

    private static final Pattern TAG = Pattern.compile("([1-9][0-9]{0,14})-[0-9]{1,15}");

    private final FleetCalls calls;
    private final String prefix;

    /** Creates a store. */
    RedisChangeStore(FleetCalls calls, String namespace) {
        this.calls = calls;
        this.prefix = "weir:1:changes:{" + namespace + "}:";
    }

    private String state() {
        return prefix + "state";
    }

    private String entry(long number) {
        return prefix + "log:" + number % MAX_ENTRIES;
    }

    private static long number(String tag) {
        Matcher matcher = TAG.matcher(tag);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("the tag has another form");
        }
        return Long.parseLong(matcher.group(1));
    }

    private static String sent(String tag) {
        return tag.equals(NO_TAG) ? "-" : tag;
    }

    @Override
    public CompletionStage<Stored> read(String knownTag) {
        String argument = sent(knownTag) + " " + MAX_STATE_BYTES + "\n";
        return calls.run(Script.CHANGES, List.of(state()), argument.getBytes(US_ASCII))
                .thenApply(reply -> stored(reply, knownTag));
    }

    private static Stored stored(byte[] reply, String knownTag) {
        int ends = lineEnd(reply, 0);
        Instant time = Instant.ofEpochMilli(Long.parseLong(new String(reply, 0, ends, US_ASCII)));
        char kind = (char) reply[ends + 1];
        if (kind == 't') {
            return new Stored(time, knownTag, Optional.empty(), false);
        }
        if (kind == 'v') {
            byte[] state = Arrays.copyOfRange(reply, ends + 2, reply.length);
            return new Stored(time, new String(state, 0, lineEnd(state, 0), US_ASCII), Optional.of(state), false);
        }
        return new Stored(time, NO_TAG, Optional.empty(), kind == 'f');
    }

    private static int lineEnd(byte[] bytes, int from) {
        int at = from;
        while (bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    @Override
    public CompletionStage<Boolean> replace(String expectedTag, byte[] state, byte[] entry) {
        if (state.length > MAX_STATE_BYTES || entry.length == 0 || entry.length > MAX_ENTRY_BYTES) {
            throw new IllegalArgumentException("the state or the entry is too large");
        }
        long number = number(new String(state, 0, lineEnd(state, 0), US_ASCII));
        ByteArrayOutputStream argument = new ByteArrayOutputStream();
        argument.writeBytes((sent(expectedTag) + " " + MAX_STATE_BYTES + " " + state.length + "\n").getBytes(US_ASCII));
        argument.writeBytes(state);
        argument.writeBytes(entry);
        return calls.run(Script.CHANGES, List.of(state(), entry(number)), argument.toByteArray())
                .thenApply(reply -> reply[lineEnd(reply, 0) + 1] == 'r');
    }

    @Override
    public CompletionStage<List<byte[]>> log(int count) {
        if (count < 1 || count > MAX_ENTRIES) {
            throw new IllegalArgumentException("the number of entries must be from 1 to " + MAX_ENTRIES);
        }
        return read(NO_TAG).thenCompose(stored -> {
            if (stored.tag().equals(NO_TAG)) {
                return CompletableFuture.completedFuture(List.of());
            }
            long last = number(stored.tag());
            List<String> keys = new ArrayList<>();
            for (long number = last; number > 0 && last - number < count; number--) {
                keys.add(entry(number));
            }
            return calls.values(keys, ENTRIES_PER_CALL, MAX_ENTRY_BYTES, Long.MAX_VALUE)
                    .thenApply(found ->
                            found.values().stream().flatMap(Optional::stream).toList());
        });
    }
}
