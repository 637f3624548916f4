// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Follows the pages of the servers other than Open Liberty as a reader does, from the POM of the page to the first rejection, and the page
 * about tests to its first one: with Maven, a shell and the commands of the page. Only the ports differ.
 */
@Tag("server")
@Tag("ci")
class ServerPagesIT {
    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final int MOST_CALLS = 1_000;

    private final int port = ServerBuilder.freePort();
    private String path = "/api/hello";
    private final String loopbackOnly =
            " -Djboss.http.port=" + port + " -Djboss.management.http.port=0 -Djboss.bind.address=127.0.0.1";

    @Test
    void payara() throws IOException {
        ServerPage page = ServerPage.of("payara", System.getProperty("java.home"));
        page.write("pom.xml", page.snippet("<project").replace("<value>8080<", "<value>" + port + "<"));
        verifyLimit(page, page.start("mvn package payara-micro:start", UnaryOperator.identity(), port));
    }

    @Test
    void wildfly() throws IOException {
        ServerPage page = ServerPage.of("wildfly", System.getProperty("java.home"));
        page.write("pom.xml", page.snippet("<project"));
        page.write("src/main/webapp/WEB-INF/jboss-web.xml", page.snippet("<jboss-web>"));
        page.run("mvn package");
        verifyLimit(page, page.start("java -jar target/shop-bootable.jar", start -> start + loopbackOnly, port));
        page.write(
                "pom.xml",
                page.snippet("<project").replaceAll("(?s)<plugin>(?:(?!</plugin>).)*wildfly-maven.*?</plugin>", ""));
        page.run("mvn package");
        page.run("mvn dependency:copy -Dartifact=org.wildfly:wildfly-preview-dist:");
        page.run("unzip -q wildfly-preview-dist-");
        page.run("cp target/shop.war wildfly-preview-");
        String standalone = page.line("/bin/standalone.sh -c standalone-microprofile.xml");
        verifyLimit(page, page.start(standalone, start -> start + loopbackOnly, port));
    }

    @Test
    void glassfish() throws IOException {
        String home = NewerJdk.required("GlassFish").toString();
        ServerPage page = ServerPage.of("glassfish", home);
        page.write("pom.xml", page.snippet("<project"));
        page.write("src/main/webapp/WEB-INF/glassfish-web.xml", page.snippet("<glassfish-web-app>"));
        page.run("mvn package");
        page.run("mvn dependency:copy -Dartifact=org.glassfish.main.distributions:glassfish:");
        page.run("unzip -q glassfish-");
        Path domain = page.folder().resolve("glassfish8/glassfish/domains/domain1/config/domain.xml");
        Files.writeString(domain, GlassFishServer.onFreePorts(Files.readString(domain), port));
        page.run("mkdir -p glassfish8/glassfish/domains/domain1/autodeploy");
        page.run("cp target/shop.war glassfish8/glassfish/domains/domain1/autodeploy");
        String start = page.line("glassfish8/bin/startserv");
        verifyLimit(page, page.start(start, line -> line.replaceFirst("JAVA_HOME=\\S+", "JAVA_HOME=" + home), port));
    }

    @Test
    void helidon() throws IOException {
        ServerPage page = ServerPage.of("helidon", NewerJdk.required("Helidon").toString());
        page.write("pom.xml", page.snippet("<project"));
        page.write("src/main/resources/META-INF/beans.xml", page.snippet("<beans"));
        page.run("mvn package");
        path = "/hello"; // Helidon ignores the Application class, which has no scope
        String options = "java -Dserver.host=127.0.0.1 -Dserver.port=" + port;
        verifyLimit(page, page.start("java -jar target/shop.jar", start -> start.replace("java", options), port));
    }

    @Test
    void firstTest() throws IOException {
        ServerPage page = ServerPage.withoutResource("test-your-limits", System.getProperty("java.home"));
        page.write("pom.xml", page.snippet("<project"));
        page.write("src/main/java/MailService.java", page.snippet("class MailService {"));
        page.write("src/main/resources/META-INF/microprofile-config.properties", page.snippet("policies.mail.limit"));
        page.write("src/test/java/MailServiceTest.java", page.snippet("class MailServiceTest"));
        assertThat(page.run("mvn test"))
                .contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0")
                .doesNotContain("WEIR-016");
    }

    /** Verifies five calls in ten seconds, the limit of the pages. */
    private void verifyLimit(ServerPage page, Server server) {
        try {
            Await.until(page.name() + " answers", START, () -> status(server).equals("200"));
            long start = System.nanoTime();
            AtomicInteger allowed = new AtomicInteger(1);
            Await.until(
                    page.name() + " rejects",
                    START,
                    Duration.ofMillis(1),
                    () -> !status(server).equals("200") || allowed.incrementAndGet() > MOST_CALLS);
            boolean within = System.nanoTime() - start < WINDOW.toNanos();
            assertThat(status(server)).isEqualTo("429");
            assertThat(allowed).hasValueGreaterThanOrEqualTo(5);
            assertThat(!within || allowed.get() == 5)
                    .as("%s calls of a window", allowed)
                    .isTrue();
            assertThat(server.log()).contains("WEIR-001", "hello");
        } finally {
            server.kill();
        }
    }

    private String status(Server server) {
        assertThat(server.handle().isAlive()).as(server.tail()).isTrue();
        try {
            return Curl.run("curl -s -o /dev/null -w '%{http_code}' localhost:" + port + path);
        } catch (UncheckedIOException e) {
            return "no answer";
        }
    }
}
