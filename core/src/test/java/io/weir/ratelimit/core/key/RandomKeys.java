// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.fixtures.TestCall;
import java.util.Random;

/** Random expressions, texts that are almost expressions, and calls that resolve some of their terms. */
final class RandomKeys {
    private static final String[] TERMS = {
        "global",
        "ip",
        "principal",
        "method",
        "tenant",
        "header:X-a",
        "header:!#$%&'*-.^_`~",
        "cookie:A",
        "query:a[b]=&{}",
        "path:a.b_c-d",
        "claim:https://example.org/a?b#c",
        "arg:a$",
        "arg:b"
    };
    private static final String[] BLANKS = {"", "", " ", "  ", "\t", "\r\n"};
    private static final String[] PIECES = {
        "global",
        "ip",
        "header",
        "header:",
        "cookie:",
        "query:",
        "arg:",
        "tenant",
        "|",
        "+",
        " ",
        "\t",
        ":",
        "x",
        "-",
        "(",
        "\0",
        "\u202e",
        "\ud83d\ude00",
        "\ud83d",
        "\u00e9",
        "\n",
        "\""
    };

    private RandomKeys() {}

    static String expression(Random random) {
        StringBuilder text = new StringBuilder(blank(random));
        for (int left = random.nextInt(4); left >= 0; left--) {
            text.append(TERMS[random.nextInt(TERMS.length)]).append(blank(random));
            if (left > 0) {
                text.append(random.nextBoolean() ? '+' : '|').append(blank(random));
            }
        }
        return text.toString();
    }

    static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(8); left > 0; left--) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.toString();
    }

    static TestCall call(Random random) {
        TestCall call = random.nextBoolean() ? TestCall.ofHeader("x-a", "h") : TestCall.fromAddress("203.0.113.7");
        call = random.nextBoolean() ? call.withPrincipal("alice") : call;
        call = random.nextBoolean() ? call.withArgument(random.nextBoolean() ? "a$" : "b", 7) : call;
        for (String term : TERMS) {
            call = random.nextBoolean() ? call.withTerm(term, "v") : call;
        }
        return call;
    }

    private static String blank(Random random) {
        return BLANKS[random.nextInt(BLANKS.length)];
    }
}
