// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** GlassFish with a copy of its first domain, which deploys the WAR of the folder {@code autodeploy}. */
final class GlassFishServer extends ServerBuilder<GlassFishServer> {
    private static final Pattern FAILED = Pattern.compile("Exception while loading the app|Address already in use");

    /** A deployment of the folder {@code autodeploy} has succeeded. */
    private static final Pattern STARTED = Pattern.compile("NCLS-DEPLOYMENT-02035");

    private static final Pattern LISTENER = Pattern.compile("(address=\"0\\.0\\.0\\.0\" )?port=\"(\\d+)\"");
    private static final Pattern HEAP = Pattern.compile("<jvm-options>-Xmx[^<]*</jvm-options>");

    /** The shell of the OSGi framework listens on a fixed port. */
    private static final Pattern SHELL = Pattern.compile("<jvm-options>[^<]*osgi\\.shell[^<]*</jvm-options>"
            + "|<jvm-options>-Dorg\\.glassfish\\.additionalOSGiBundlesToStart[^<]*</jvm-options>");

    private static final String THREADS = "<thread-pool name=\"http-thread-pool\"";

    private boolean virtualThreads;

    private GlassFishServer(String name) {
        super("payara", name, FAILED, STARTED); // this WAR has no files for a server
    }

    static GlassFishServer named(String name) {
        return new GlassFishServer(name);
    }

    /** Runs requests on virtual threads. */
    GlassFishServer virtualThreads() {
        virtualThreads = true;
        return this;
    }

    @Override
    GlassFishServer self() {
        return this;
    }

    @Override
    ProcessBuilder command(Path directory, int httpPort) throws IOException {
        Path home = Path.of(Server.required("weir.glassfish.home"));
        Path domain = directory.resolve("domain");
        copy(home.resolve("glassfish/domains/domain1"), domain);
        Path xml = domain.resolve("config/domain.xml");
        Files.writeString(xml, configured(Files.readString(xml), httpPort));
        Path war = Files.createDirectories(domain.resolve("autodeploy")).resolve("application.war");
        Files.copy(war(), war);
        deployAtRoot(war);
        // The script ends with exec, so the process is the JVM of the server.
        ProcessBuilder command = new ProcessBuilder(
                home.resolve("bin/startserv").toString(), "--domaindir", directory.toString(), "domain");
        command.environment().put("JAVA_HOME", javaHome().toString());
        return command;
    }

    /** Returns the configuration with free ports and the options of the JVM. */
    private String configured(String domain, int httpPort) {
        String options = jvmOptions().stream()
                .map(option -> "<jvm-options>" + option.replace("&", "&amp;").replace("<", "&lt;") + "</jvm-options>")
                .collect(Collectors.joining("\n"));
        String changed = HEAP.matcher(domain).replaceFirst(Matcher.quoteReplacement(options));
        if (virtualThreads) {
            changed = changed.replace(THREADS, THREADS + " virtual=\"true\"");
        }
        return onFreePorts(changed, httpPort);
    }

    /** Returns a configuration with free ports of the loopback interface. */
    static String onFreePorts(String domain, int httpPort) {
        String changed = SHELL.matcher(domain).replaceAll("").replace("value=\"7676\"", "value=\"" + freePort() + "\"");
        return LISTENER.matcher(changed)
                .replaceAll(listener -> "address=\"127.0.0.1\" port=\""
                        + (listener.group(2).equals("8080") ? httpPort : freePort()) + "\"");
    }

    private static void deployAtRoot(Path war) throws IOException {
        try (FileSystem archive = FileSystems.newFileSystem(war)) {
            Files.writeString(
                    archive.getPath("WEB-INF/glassfish-web.xml"),
                    "<glassfish-web-app><context-root>/</context-root></glassfish-web-app>");
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.toList()) {
                Files.copy(path, to.resolve(from.relativize(path)));
            }
        }
    }
}
