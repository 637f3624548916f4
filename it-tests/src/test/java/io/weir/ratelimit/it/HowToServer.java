// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.fixtures.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Open Liberty with the configuration of its page. It has all applications of how-to pages, each with its name as context root, and the one
 * of its page at the root.
 */
final class HowToServer implements AutoCloseable {
    static final String PAGE = "open-liberty";

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Pattern ADDRESS =
            Pattern.compile("(?:localhost|127\\.0\\.0\\.1|server\\.internal):(?:8080|9080)");

    private final Server server;

    private HowToServer(Server server) {
        this.server = server;
    }

    static HowToServer start(List<HowToApplication> applications, Path folder) throws IOException {
        HowToPage page = HowToPage.of(PAGE);
        int port = ServerBuilder.freePort();
        LibertyServer builder = LibertyServer.named("how-to")
                .configuration(page.snippet("Configure the server", "xml")
                        .replace("9080", Integer.toString(port))
                        .replace("9443", "-1")
                        .replace("shop.war", "weir-example-openliberty.war"))
                .serverXml(page.snippet("Enable roles", "xml"))
                .serverXml(serverXml(page.snippet("Metrics", "xml")))
                .serverXml(features())
                .httpPort(port)
                .readyPath("ready.txt")
                .jvmOption("-Xmx1g")
                // The applications of pages can call each other.
                .systemProperty("page.port", Integer.toString(port))
                // A cold JVM of a busy machine answers late.
                .systemProperty("ratelimit.redis.deadline", "2s")
                .environment("API_LIMIT_SECRET", UUID.randomUUID().toString());
        StringBuilder deployed = new StringBuilder();
        for (HowToApplication application : applications) {
            Path war = application.war(folder).toAbsolutePath();
            if (application.name().equals(PAGE)) {
                builder.war(war);
            } else {
                deployed.append(
                        "<webApplication id=\"page-%1$s\" name=\"page-%1$s\" contextRoot=\"/pages/%1$s\" location=\"%2$s\">"
                                .formatted(application.name(), war));
                deployed.append("<classloader apiTypeVisibility=\"+third-party\"/></webApplication>");
            }
        }
        HowToServer server = new HowToServer(
                builder.serverXml(serverXml(deployed.toString())).start());
        for (HowToApplication application : applications) {
            URI ready = server.uri(application.name(), "ready.txt");
            Await.until(
                    application.name(),
                    TIMEOUT,
                    Duration.ofMillis(200),
                    () -> Http.get(ready).statusCode() == 200);
        }
        return server;
    }

    /**
     * The feature of the page about OpenAPI, with the application of this page, those of REST clients and JSON, and a database for the page about
     * tiers.
     */
    private static String features() {
        return serverXml("""
                <featureManager>
                    <feature>mpOpenAPI-4.1</feature>
                    <feature>mpRestClient-4.0</feature>
                    <feature>jsonb-3.0</feature>
                    <feature>jdbc-4.3</feature>
                </featureManager>
                <mpOpenAPI><includeApplication>page-openapi</includeApplication></mpOpenAPI>
                <library id="h2"><file name="%s"/></library>
                <dataSource id="DefaultDataSource">
                    <jdbcDriver libraryRef="h2" javax.sql.DataSource="org.h2.jdbcx.JdbcDataSource"/>
                    <properties URL="jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1"/>
                </dataSource>
                """.formatted(jar("org.h2.Driver")));
    }

    private static Path jar(String type) {
        try {
            return Path.of(Class.forName(type)
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (ReflectiveOperationException | java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String serverXml(String content) {
        return "<server>" + content + "</server>";
    }

    /** Returns an address in an application. */
    URI uri(String application, String path) {
        return root().resolve((application.equals(PAGE) ? "" : "pages/" + application + "/") + path);
    }

    URI root() {
        return URI.create(server.baseUri().toString().replace("localhost", "127.0.0.1"));
    }

    /** Runs commands of a page with Bash and curl, on its application and on the endpoints of the server, and returns their output. */
    String run(String application, String commands) {
        Tool.named("curl");
        String root = root().getAuthority();
        String mapped = ADDRESS.matcher(commands)
                .replaceAll(root)
                .replace(root + "/api/", root + "/pages/" + application + "/api/");
        return Tool.named("bash").run(server.directory(), "-c", "exec 2>/dev/null\n" + mapped);
    }

    /** Writes a file of the server configuration, as a reader moves it to its place. */
    void dropIn(String name, String xml) {
        try {
            Path file = Files.writeString(server.directory().resolve(name), xml);
            Files.move(file, overrides().resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void removeDropIn(String name) {
        try {
            Files.delete(overrides().resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path overrides() {
        return server.directory().resolve("servers/how-to/configDropins/overrides");
    }

    /** Returns the messages of the server and its applications. */
    String messages() {
        return server.messages();
    }

    Scrape scrape() {
        return Scrape.of(server);
    }

    @Override
    public void close() {
        server.close();
    }
}
