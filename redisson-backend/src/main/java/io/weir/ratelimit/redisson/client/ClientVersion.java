// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

/** The check of the version of Redisson. The names and members of its types differ before version 4. */
public final class ClientVersion {
    private static final String TITLE = "Redisson";
    private static final int MIN_MAJOR = 4;
    private static final Pattern MAJOR = Pattern.compile("(\\d{1,4})\\..*");

    private ClientVersion() {}

    /** Returns the problem of a version that does not work. Uses no other type of the client. */
    public static Optional<ConfigurationProblem> problem() {
        Package client = RedissonClient.class.getPackage();
        return problem(client.getImplementationTitle(), client.getImplementationVersion());
    }

    /** Returns the problem of a version. A larger jar that contains Redisson has another title and its own version. */
    public static Optional<ConfigurationProblem> problem(@Nullable String title, @Nullable String version) {
        if (!TITLE.equals(title) || version == null) {
            return Optional.empty();
        }
        Matcher matcher = MAJOR.matcher(version);
        return matcher.matches() && Integer.parseInt(matcher.group(1)) < MIN_MAJOR
                ? Optional.of(MESSAGES.problem("WEIR-422", TITLE, version, MIN_MAJOR + ".0"))
                : Optional.empty();
    }
}
