// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The user with the documented permissions. */
public final class DocumentedUser {
    static final String USER = "weir";
    static final String PASSWORD = "the-r1ght-secret";

    private DocumentedUser() {}

    /** Returns the command that creates the user. */
    public static String line() {
        return RedisPage.sample("ACL SETUSER " + USER + " ", Map.of(">secret", ">" + PASSWORD));
    }

    /** Returns the command that creates the user with the access string of services. */
    static String lineOfServices() {
        return "ACL SETUSER " + USER + " >" + PASSWORD + " "
                + RedisPage.sample(RedisPage.OF_SERVICES, "resetchannels", Map.of());
    }

    /** Returns the additional permission for a cluster. */
    static String ofCluster() {
        return additional("A cluster");
    }

    /** Returns the additional permission for a database other than 0. */
    static String ofDatabase() {
        return additional("A database other than 0");
    }

    private static String additional(String subject) {
        Matcher matcher = Pattern.compile(subject + " needs `(\\+\\S+)`").matcher(RedisPage.text());
        if (!matcher.find()) {
            throw new AssertionError("the permission is not documented: " + subject);
        }
        return matcher.group(1);
    }

    /** Returns the address of a server with this user. */
    public static String address(RedisProcess server) {
        return "redis://" + USER + ":" + PASSWORD + "@127.0.0.1:" + server.port();
    }
}
