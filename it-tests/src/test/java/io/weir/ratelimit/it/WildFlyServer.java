// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** WildFly with a copy of the configuration of the installed server. The deployment scanner deploys the WAR. */
final class WildFlyServer extends ServerBuilder<WildFlyServer> {
    /** An operation or a service failed, or the server started with errors. */
    private static final Pattern FAILED = Pattern.compile("WFLYCTL0013|WFLYSRV0026|MSC000001");

    /** The last line of a start without errors, after the deployments. */
    private static final Pattern STARTED = Pattern.compile("WFLYSRV0025");

    private static final Pattern MODULE_OPTION = Pattern.compile("--add-(?:exports|opens)=[a-z./]+=ALL-UNNAMED");

    /** The users are those of the identity store of the application, not of a realm of the server. */
    private static final String[] USERS = {
        "<application-security-domain name=\"other\" security-domain=\"ApplicationDomain\"/>",
        "<application-security-domain name=\"other\" security-domain=\"ApplicationDomain\" integrated-jaspi=\"false\"/>"
    };

    /** Remote calls of enterprise beans need more of the other configuration. */
    private static final Pattern REMOTE_BEANS = Pattern.compile("<remote .*?</remote>", Pattern.DOTALL);

    private static final Pattern ENTERPRISE_BEANS =
            Pattern.compile("<subsystem xmlns=\"urn:jboss:domain:ejb3:.*?</subsystem>", Pattern.DOTALL);

    private final int managementPort = freePort();
    private String home = "weir.wildfly.home";
    private boolean preview;

    private WildFlyServer(String name) {
        super("wildfly", name, FAILED, STARTED);
    }

    static WildFlyServer named(String name) {
        return new WildFlyServer(name);
    }

    /**
     * Uses WildFly Preview, which has Jakarta EE 11. Its distribution has two configurations, one with MicroProfile and one with enterprise
     * beans; this server has both.
     */
    WildFlyServer preview() {
        home = "weir.wildfly-preview.home";
        preview = true;
        return this;
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
        Path installation = Path.of(Server.required(home));
        Path original = installation.resolve("standalone/configuration");
        Path configuration = Files.createDirectories(directory.resolve("configuration"));
        Files.copy(original.resolve("logging.properties"), configuration.resolve("logging.properties"));
        String xml = preview ? configured(original) : Files.readString(original.resolve("standalone.xml"));
        Files.writeString(configuration.resolve("standalone.xml"), xml);
        for (String file : List.of("application-users", "application-roles", "mgmt-users", "mgmt-groups")) {
            Files.createFile(configuration.resolve(file + ".properties"));
        }
        // This file name means the context root "/".
        Files.copy(
                war(), Files.createDirectories(directory.resolve("deployments")).resolve("ROOT.war"));
        // The script standalone.sh is not used, because it remains the parent of the JVM and receives the signals.
        List<String> command = new ArrayList<>(java());
        command.addAll(moduleOptions(installation));
        command.addAll(List.of(
                "-Djboss.home.dir=" + installation,
                "-Djboss.server.base.dir=" + directory,
                "-Djboss.bind.address=127.0.0.1",
                "-Djboss.http.port=" + httpPort,
                "-Djboss.https.port=" + freePort(),
                "-Djboss.management.http.port=" + managementPort,
                "-Dlogging.configuration=file:" + configuration.resolve("logging.properties"),
                "-Dorg.jboss.boot.log.file=" + directory.resolve("log/server.log"),
                "-Dorg.jboss.logmanager.nocolor=true",
                "-jar",
                installation.resolve("jboss-modules.jar").toString(),
                "-mp",
                installation.resolve("modules").toString(),
                "org.jboss.as.standalone"));
        return new ProcessBuilder(command);
    }

    private static String configured(Path original) throws IOException {
        String beans = ENTERPRISE_BEANS
                .matcher(Files.readString(original.resolve("standalone.xml")))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.joining());
        return Files.readString(original.resolve("standalone-microprofile.xml"))
                .replace(USERS[0], USERS[1])
                .replace("</extensions>", "<extension module=\"org.jboss.as.ejb3\"/></extensions>")
                .replace("</profile>", REMOTE_BEANS.matcher(beans).replaceAll("") + "</profile>");
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
