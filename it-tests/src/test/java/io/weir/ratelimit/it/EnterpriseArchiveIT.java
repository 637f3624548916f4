// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.ear.EarApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jboss.shrinkwrap.api.ArchivePath;
import org.jboss.shrinkwrap.api.Filters;
import org.jboss.shrinkwrap.api.Node;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.spec.EnterpriseArchive;
import org.jboss.shrinkwrap.api.spec.JavaArchive;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An EAR with two WARs of the same classes, on Open Liberty. */
@Tag("server")
@Tag("ci")
class EnterpriseArchiveIT {
    private static final String CONFIG = "META-INF/microprofile-config.properties";

    @TempDir
    private Path temp;

    private static String properties(int permits) {
        return "ratelimit.policies.hello.limit=" + permits + "/1h\n"
                + "ratelimit.policies.hello.key=global\n"
                + "ratelimit.policies.ruled.limit=" + permits + "/1h\n"
                + "ratelimit.policies.ruled.key=global\n"
                + "ratelimit.policies.ruled.paths=/api/ruled\n";
    }

    /** Returns a WAR without the library. */
    private static WebArchive plain(String name) {
        return ShrinkWrap.create(WebArchive.class, name + ".war").addPackage(EarApplication.class.getPackage());
    }

    /** Returns a WAR with the library, without the context root of the example. */
    private static WebArchive complete(String name) {
        WebArchive war = TestWar.libraries(name + ".war").addPackage(EarApplication.class.getPackage());
        war.delete("/WEB-INF/ibm-web-ext.xml");
        return war;
    }

    private static WebArchive with(WebArchive war, String properties) {
        return war.addAsResource(new StringAsset(properties), CONFIG);
    }

    private static EnterpriseArchive ear(WebArchive... wars) {
        return ShrinkWrap.create(EnterpriseArchive.class, "two-wars.ear").addAsModules(wars);
    }

    /** Returns an EAR with the library in {@code lib}. */
    private static EnterpriseArchive shared(WebArchive... wars) {
        EnterpriseArchive ear = ear(wars);
        TestWar.example()
                .getContent(Filters.include("/WEB-INF/lib/.*\\.jar"))
                .forEach((ArchivePath path, Node jar) ->
                        ear.add(jar.getAsset(), "lib/" + path.get().substring("/WEB-INF/lib/".length())));
        return ear;
    }

    /** Returns a server with an EAR in place of the example. */
    private LibertyServer server(String name, EnterpriseArchive ear) {
        Path file = temp.resolve(ear.getName());
        ear.as(ZipExporter.class).exportTo(file.toFile(), true);
        try {
            String example = Files.readString(Path.of(Server.required("weir.example.server.xml")));
            String replaced = example.replaceFirst(
                            "<webApplication location=\"[^\"]*\" contextRoot=\"/\">",
                            "<enterpriseApplication location=\"" + file + "\">")
                    .replace("</webApplication>", "</enterpriseApplication>");
            assertThat(replaced).contains(file.toString());
            return LibertyServer.named(name).configuration(replaced);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("field")
    void eachWarWithTheLibraryHasItsOwnLimits() {
        EnterpriseArchive ear = ear(with(complete("a"), properties(2)), with(complete("b"), properties(5)));
        try (Server server = server("ear-wars", ear).startDeployed()) {
            for (String resource : new String[] {"hello", "ruled"}) {
                assertThat(Http.statuses(4, server.baseUri().resolve("a/api/" + resource)))
                        .containsExactly(200, 200, 429, 429);
                assertThat(Http.statuses(6, server.baseUri().resolve("b/api/" + resource)))
                        .containsExactly(200, 200, 200, 200, 200, 429);
            }
            assertThat(server.log())
                    .containsOnlyOnce("policy hello: 2/1h")
                    .containsOnlyOnce("policy hello: 5/1h")
                    .doesNotContain("WEIR-037");
        }
    }

    @Test
    @Tag("field")
    void aSharedLibraryWithItsPropertiesWarnsOfSharedLimits() {
        EnterpriseArchive ear = shared(plain("a"), plain("b"));
        ear.addAsLibrary(ShrinkWrap.create(JavaArchive.class, "settings.jar")
                .addAsResource(new StringAsset(properties(2)), CONFIG));
        try (Server server = server("ear-lib", ear).startDeployed()) {
            for (String resource : new String[] {"hello", "ruled"}) {
                assertThat(Http.statuses(3, server.baseUri().resolve("a/api/" + resource)))
                        .containsExactly(200, 200, 429);
                assertThat(Http.statuses(2, server.baseUri().resolve("b/api/" + resource)))
                        .containsOnly(429);
            }
            assertThat(server.log()).containsOnlyOnce("WEIR-037").containsOnlyOnce("policy hello: 2/1h");
        }
    }

    @Test
    @Tag("field")
    void aSharedLibraryDoesNotReadThePropertiesOfTheWars() {
        EnterpriseArchive ear = shared(with(plain("a"), properties(2)), with(plain("b"), properties(5)));
        assertThat(server("ear-settings", ear).startExpectingFailure())
                .contains(
                        "WEIR-110", "WEIR-038 Weir is outside of the archive of io.weir.ratelimit.it.ear.EarResource");
    }
}
