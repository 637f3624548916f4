// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Payara Micro without a cluster, with one application. */
final class PayaraServer extends ServerBuilder<PayaraServer> {
    private static final Pattern FAILED = Pattern.compile("Exception while loading the app|Address already in use");

    /** This message does not depend on the success of the deployment. */
    private static final Pattern STARTED = Pattern.compile("Payara Micro .* ready in");

    private boolean expanded;
    private String jar = "weir.payara.jar";

    private PayaraServer(String name) {
        super("payara", name, FAILED, STARTED);
    }

    static PayaraServer named(String name) {
        return new PayaraServer(name);
    }

    /** Sets the system property with the path of the server. */
    PayaraServer jar(String property) {
        jar = property;
        return this;
    }

    /** Deploys the application as a folder. Touching its file {@code .reload} deploys it again. */
    PayaraServer expanded() {
        expanded = true;
        return this;
    }

    @Override
    PayaraServer self() {
        return this;
    }

    @Override
    ProcessBuilder command(Path directory, int httpPort) throws IOException {
        // Payara Micro unpacks itself into the temporary folder.
        Path temporary = Files.createDirectories(directory.resolve("tmp"));
        Path commands = Files.writeString(
                directory.resolve("before-boot"),
                "set configs.config.server-config.network-config.network-listeners.network-listener.http-listener"
                        + ".address=127.0.0.1\n");
        List<String> command = new ArrayList<>(java());
        command.addAll(List.of(
                "-Djava.io.tmpdir=" + temporary,
                "-jar",
                Server.required(jar),
                "--nocluster",
                "--disablephonehome",
                "--prebootcommandfile",
                commands.toString(),
                "--port",
                Integer.toString(httpPort),
                "--contextroot",
                "/",
                "--deploy",
                application(directory).toString()));
        return new ProcessBuilder(command);
    }

    private Path application(Path directory) throws IOException {
        if (!expanded) {
            return Files.copy(war(), directory.resolve("application.war"));
        }
        Path folder = Files.createDirectory(directory.resolve("application"));
        try (FileSystem archive = FileSystems.newFileSystem(war());
                Stream<Path> entries = Files.walk(archive.getPath("/"))) {
            for (Path entry : entries.skip(1).toList()) {
                Files.copy(entry, folder.resolve(entry.toString().substring(1)));
            }
        }
        return folder;
    }
}
