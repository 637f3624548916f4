// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Open Liberty with the {@code server.xml} of the example. */
final class LibertyServer extends ServerBuilder<LibertyServer> {
    private static final String WAR = "weir-example-openliberty.war";
    private static final Pattern FAILED =
            Pattern.compile("CWWKZ000[24]E|CWWKZ001[234]|CWWKZ0106E|CWWKG0014E|CWWKO0221E");
    private static final Pattern STARTED = Pattern.compile("CWWKZ000[13]I"); // started, updated

    /** The features of the example with another version in Jakarta EE 11. */
    private static final String[][] EE_11 = {
        {"restfulWS-3.1", "restfulWS-4.0"},
        {"servlet-6.0", "servlet-6.1"},
        {"cdi-4.0", "cdi-4.1"},
        {"concurrent-3.0", "concurrent-3.1"},
        {"appSecurity-5.0", "appSecurity-6.0"},
        {"websocket-2.1", "websocket-2.2"}
    };

    private final String name;
    private final Map<String, String> bootstrapProperties = new LinkedHashMap<>();
    private final Map<String, String> overrides = new LinkedHashMap<>();
    private UnaryOperator<String> change = UnaryOperator.identity();
    private String home = "weir.wlp.home";
    private LibertyWorkArea workArea;

    private LibertyServer(String name) {
        super("openliberty", name, FAILED, STARTED);
        this.name = name;
    }

    static LibertyServer named(String name) {
        return new LibertyServer(name);
    }

    LibertyServer bootstrapProperty(String key, String value) {
        bootstrapProperties.put(key, value);
        return this;
    }

    /** Adds a {@code <server>} document that overrides that of the example. */
    LibertyServer serverXml(String xml) {
        overrides.put("override-" + overrides.size() + ".xml", xml);
        return this;
    }

    /** Replaces the {@code server.xml} of the example. */
    LibertyServer configuration(String xml) {
        change = example -> xml;
        return this;
    }

    /** Uses the Open Liberty that has Jakarta EE 11, and its features. */
    LibertyServer jakartaEe11() {
        home = "weir.liberty-ee11.home";
        change = LibertyServer::withFeaturesOfJakartaEe11;
        return this;
    }

    /** Adds the users and the enterprise beans of the test application. Users are unknown until the keys of LTPA exist. */
    LibertyServer withUsers() {
        environment("ltpa_keys_password", "weir-test").awaits("CWWKS4105I");
        try {
            String xml = Files.readString(Path.of("src/test/liberty/application.xml"));
            return serverXml(home.equals("weir.wlp.home") ? xml : withFeaturesOfJakartaEe11(xml));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String withFeaturesOfJakartaEe11(String xml) {
        String changed = xml;
        for (String[] feature : EE_11) {
            changed = changed.replace("<feature>" + feature[0] + "</feature>", "<feature>" + feature[1] + "</feature>");
        }
        return changed;
    }

    /** Removes features from the {@code server.xml} of the example, by their names without a version. */
    LibertyServer without(String... features) {
        change = xml -> xml.replaceAll("<feature>(" + String.join("|", features) + ")-[^<]*</feature>", "");
        return this;
    }

    @Override
    LibertyServer self() {
        return this;
    }

    @Override
    ProcessBuilder command(Path directory, int httpPort) throws IOException {
        Path server = directory.resolve("servers").resolve(name);
        bootstrapProperties.put("http.port", Integer.toString(httpPort));
        bootstrapProperties.putIfAbsent("https.port", "-1");
        Files.createDirectories(server.resolve("apps"));
        String xml = change.apply(Files.readString(Path.of(Server.required("weir.example.server.xml"))));
        Files.writeString(server.resolve("server.xml"), xml);
        Files.copy(war(), server.resolve("apps").resolve(WAR));
        Files.write(
                server.resolve("bootstrap.properties"),
                bootstrapProperties.entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .toList());
        Files.write(server.resolve("jvm.options"), jvmOptions());
        workArea = new LibertyWorkArea(javaHome(), Stream.concat(Stream.of(xml), overrides.values().stream()));
        workArea.restore(server);
        Path overrideDir = Files.createDirectories(server.resolve("configDropins/overrides"));
        for (Map.Entry<String, String> override : overrides.entrySet()) {
            Files.writeString(overrideDir.resolve(override.getKey()), override.getValue());
        }
        // On Linux and macOS the script ends with exec, so the process is the JVM of the server.
        String script = File.separatorChar == '\\' ? "server.bat" : "server";
        ProcessBuilder command =
                new ProcessBuilder(Path.of(Server.required(home), "bin", script).toString(), "run", name);
        command.environment().put("JAVA_HOME", javaHome().toString());
        command.environment().put("WLP_USER_DIR", directory.toString());
        command.environment().put("WLP_LOGGING_CONSOLE_LOGLEVEL", "INFO");
        return command;
    }

    @Override
    void stopped(Path directory) throws IOException {
        workArea.store(directory.resolve("servers").resolve(name));
    }
}
