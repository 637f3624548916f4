// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A script that decides on one limit. */
interface PeerScript {
    /** Returns the name in the tables. */
    String name();

    /** Returns the source. */
    String source();

    /** Returns the type of the reply. */
    ScriptOutputType reply();

    /** Returns the keys of a call on a limit. */
    default String[] keys(String limitKey, Duration window) {
        return new String[] {limitKey};
    }

    /** Returns the arguments of a call on a limit. */
    byte[][] arguments(Duration window);

    /** Returns whether a reply allows the call. */
    boolean allows(Object reply);

    /** Returns numbers as arguments. */
    static byte[][] numbers(long... numbers) {
        byte[][] texts = new byte[numbers.length][];
        for (int i = 0; i < numbers.length; i++) {
            texts[i] = Long.toString(numbers[i]).getBytes(StandardCharsets.US_ASCII);
        }
        return texts;
    }
}
