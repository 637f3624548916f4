// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The user with the rights that the documentation names. */
final class LeastRights {
    static final String USER = "weir";
    static final String PASSWORD = "the-r1ght-secret";

    private LeastRights() {}

    /** The command that makes the user. */
    static String line() {
        return RedisPage.sample("ACL SETUSER " + USER + " ", Map.of(">secret", ">" + PASSWORD));
    }

    /** The right that a cluster asks for in addition. */
    static String ofCluster() {
        Matcher matcher = Pattern.compile("On a cluster one more, `(\\+\\S+)`").matcher(RedisPage.text());
        if (!matcher.find()) {
            throw new AssertionError("the right of a cluster is not documented");
        }
        return matcher.group(1);
    }

    /** The address of a server as this user. */
    static String address(RedisProcess server) {
        return "redis://" + USER + ":" + PASSWORD + "@127.0.0.1:" + server.port();
    }
}
