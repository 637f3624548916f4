// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.fixtures.RequiredTools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A JDK of version 21 or later: {@code -Dweir.test.newer-jdk}, or the newest of the environment variables {@code JAVA_HOME_*} and the
 * folders of {@code /usr/lib/jvm}.
 */
record NewerJdk(Path home, int version) {
    static final int MIN_VERSION = 21;

    private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)");

    /** Returns the newer JDK of this machine. */
    static Optional<NewerJdk> find() {
        String named = System.getProperty("weir.test.newer-jdk");
        return named != null
                ? Optional.of(named(Path.of(named)))
                : newest(Stream.concat(environment(System.getenv()), folders(Path.of("/usr/lib/jvm"))));
    }

    /**
     * Returns the home of the newer JDK. Without one, the current test is skipped, or fails if the build requires this JDK.
     *
     * @param what what needs it, for the message
     */
    static Path required(String what) {
        NewerJdk jdk = find().orElse(null);
        if (jdk == null) {
            String missing = "there is no JDK of version " + MIN_VERSION + " or later on this machine";
            if (RequiredTools.contains("newer-jdk")) {
                throw new IllegalStateException("newer-jdk is required, but " + missing);
            }
            System.out.println("SKIPPED, " + what + ": " + missing);
            Assumptions.abort(missing);
        }
        System.out.printf("JDK for %s: %d in %s%n", what, jdk.version(), jdk.home());
        return jdk.home();
    }

    /**
     * Returns the configured JDK.
     *
     * @throws IllegalArgumentException if the folder has no JDK or an older one: a wrong path is not a missing tool
     */
    static NewerJdk named(Path home) {
        return at(home).orElseThrow(() ->
                new IllegalArgumentException("No JDK of version " + MIN_VERSION + " or later in " + home));
    }

    static Optional<NewerJdk> newest(Stream<Path> homes) {
        return homes.flatMap(home -> at(home).stream()).max(Comparator.comparingInt(NewerJdk::version));
    }

    static Stream<Path> environment(Map<String, String> variables) {
        return variables.entrySet().stream()
                .filter(variable -> variable.getKey().startsWith("JAVA_HOME_"))
                .map(variable -> Path.of(variable.getValue()));
    }

    private static Stream<Path> folders(Path parent) {
        if (!Files.isDirectory(parent)) {
            return Stream.empty();
        }
        try (Stream<Path> folders = Files.list(parent)) {
            return folders.toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<NewerJdk> at(Path home) {
        Path release = home.resolve("release");
        if (!Files.isRegularFile(release) || !Files.isExecutable(home.resolve("bin/java"))) {
            return Optional.empty();
        }
        try {
            Matcher matcher = VERSION.matcher(Files.readString(release));
            return matcher.find() && Integer.parseInt(matcher.group(1)) >= MIN_VERSION
                    ? Optional.of(new NewerJdk(home, Integer.parseInt(matcher.group(1))))
                    : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
