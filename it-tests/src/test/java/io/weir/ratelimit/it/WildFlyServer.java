// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** WildFly with a copy of the configuration of the provisioned server. The deployment scanner deploys the WAR. */
final class WildFlyServer extends ServerBuilder<WildFlyServer> {
    /** An operation or a service failed, or the server started with errors. */
    private static final Pattern FAILED = Pattern.compile("WFLYCTL0013|WFLYSRV0026|MSC000001");

    /** The last line of a start without errors, after the deployments. */
    private static final Pattern STARTED = Pattern.compile("WFLYSRV0025");

    private static final Pattern MODULE_OPTION = Pattern.compile("--add-(?:exports|opens)=[a-z./]+=ALL-UNNAMED");

    private final int managementPort = freePort();

    private WildFlyServer(String name) {
        super("wildfly", name, FAILED, STARTED);
    }

    static WildFlyServer named(String name) {
        return new WildFlyServer(name);
    }

    /** Returns the management port, which has the health checks. */
    int managementPort() {
        return managementPort;
    }

    @Override
    WildFlyServer self() {
        return this;
    }

    @Override
    ProcessBuilder command(Path directory, int httpPort) throws IOException {
        Path home = Path.of(Server.required("weir.wildfly.home"));
        Path configuration = Files.createDirectories(directory.resolve("configuration"));
        for (String file : List.of("standalone.xml", "logging.properties")) {
            Files.copy(home.resolve("standalone/configuration").resolve(file), configuration.resolve(file));
        }
        for (String file : List.of("application-users", "application-roles", "mgmt-users", "mgmt-groups")) {
            Files.createFile(configuration.resolve(file + ".properties"));
        }
        // This file name means the context root "/".
        Files.copy(
                war(), Files.createDirectories(directory.resolve("deployments")).resolve("ROOT.war"));
        // The script standalone.sh is not used, because it remains the parent of the JVM and receives the signals.
        List<String> command = new ArrayList<>(java());
        command.addAll(moduleOptions(home));
        command.addAll(List.of(
                "-Djboss.home.dir=" + home,
                "-Djboss.server.base.dir=" + directory,
                "-Djboss.bind.address=127.0.0.1",
                "-Djboss.http.port=" + httpPort,
                "-Djboss.https.port=" + freePort(),
                "-Djboss.management.http.port=" + managementPort,
                "-Dlogging.configuration=file:" + configuration.resolve("logging.properties"),
                "-Dorg.jboss.boot.log.file=" + directory.resolve("log/server.log"),
                "-Dorg.jboss.logmanager.nocolor=true",
                "-jar",
                home.resolve("jboss-modules.jar").toString(),
                "-mp",
                home.resolve("modules").toString(),
                "org.jboss.as.standalone"));
        return new ProcessBuilder(command);
    }

    /** Returns the module options of the start script. */
    private static List<String> moduleOptions(Path home) throws IOException {
        List<String> options = MODULE_OPTION
                .matcher(Files.readString(home.resolve("bin/common.sh")))
                .results()
                .map(MatchResult::group)
                .toList();
        if (options.isEmpty()) {
            throw new IllegalStateException("No module options in " + home.resolve("bin/common.sh"));
        }
        return options;
    }
}
