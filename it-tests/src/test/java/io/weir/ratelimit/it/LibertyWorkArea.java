// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The OSGi state and the feature cache of a stopped Open Liberty server. A new server with the same features and the same JDK that starts
 * with a copy of them needs about a third less CPU time for its start.
 */
final class LibertyWorkArea {
    private static final Pattern FEATURE = Pattern.compile("<feature>([^<]*)</feature>");
    private static final List<String> CACHES = List.of("org.eclipse.osgi", "platform");

    /** The jars of applications: the server would use an old jar, because all builds of a jar have the same time. */
    private static final String APPLICATIONS = "com.ibm.ws.app.manager";

    private final Path stored;

    /** Selects the stored work area for the features in these documents. */
    LibertyWorkArea(Path javaHome, Stream<String> documents) {
        List<String> features = documents
                .flatMap(xml -> FEATURE.matcher(xml).results())
                .map(result -> result.group(1))
                .distinct()
                .sorted()
                .toList();
        String id = UUID.nameUUIDFromBytes((javaHome + " " + features).getBytes(StandardCharsets.UTF_8))
                .toString();
        stored = Path.of(Server.required("weir.servers"))
                .resolveSibling("liberty-work-areas")
                .resolve(id);
    }

    /** Copies the stored caches, if there are any, to the directory of a server that is not started yet. */
    void restore(Path server) throws IOException {
        if (Files.exists(stored)) {
            copy(stored, server.resolve("workarea"));
        }
    }

    /** Stores the caches of a stopped server, unless there are stored ones. */
    void store(Path server) throws IOException {
        if (Files.exists(stored) || !Files.exists(server.resolve("workarea"))) {
            return;
        }
        Files.createDirectories(stored.getParent());
        Path copy = Files.createTempDirectory(stored.getParent(), "copy");
        copy(server.resolve("workarea"), copy);
        try {
            Files.move(copy, stored, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException | AtomicMoveNotSupportedException e) {
            // another test JVM has stored the same caches
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        for (String cache : CACHES) {
            try (Stream<Path> paths = Files.walk(from.resolve(cache))) {
                for (Path path : paths.filter(path -> !path.toString().contains(APPLICATIONS))
                        .toList()) {
                    Path target = to.resolve(from.relativize(path));
                    Files.createDirectories(target.getParent());
                    Files.copy(path, target, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }
}
