// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.it.app.ChangingSource;
import io.weir.ratelimit.it.app.EmptyApplication;
import io.weir.ratelimit.it.app.TestApplication;
import io.weir.ratelimit.it.app.Users;
import io.weir.ratelimit.test.RateLimits;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jboss.shrinkwrap.api.Filters;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.importer.ZipImporter;
import org.jboss.shrinkwrap.api.spec.JavaArchive;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** Applications for tests, with the libraries of the example. */
final class TestWar {
    private TestWar() {}

    /** Returns the application of the package {@code app}. */
    static WebArchive application() {
        return libraries("weir-test.war")
                .addPackage(TestApplication.class.getPackage())
                .deleteClass(EmptyApplication.class)
                .addAsServiceProvider(ConfigSource.class, ChangingSource.class)
                .addAsWebInfResource("app/web.xml", "web.xml")
                .addAsResource("app/microprofile-config.properties", "META-INF/microprofile-config.properties");
    }

    /** Returns the application of a package, whose classes the server scans. */
    static WebArchive of(String name) {
        return libraries("weir-" + name + ".war")
                .addPackage(TestWar.class.getPackageName() + "." + name)
                .addClass(ContainerThreads.class)
                .addAsWebInfResource(
                        new StringAsset("<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\""
                                + " bean-discovery-mode=\"all\"/>"),
                        "beans.xml")
                .addAsResource(name + "/microprofile-config.properties", "META-INF/microprofile-config.properties");
    }

    /** Returns the application of the package {@code policies} with the users of {@code app}. */
    static WebArchive policies() {
        return of("policies").addClass(Users.class).addAsWebInfResource("policies/web.xml", "web.xml");
    }

    /** Returns a WAR with the libraries only. */
    static WebArchive libraries(String name) {
        return ShrinkWrap.create(WebArchive.class, name)
                .merge(example(), "/", Filters.include("/WEB-INF/(lib/.*|ibm-web-ext\\.xml)"));
    }

    /** Returns the jar of the test kit. */
    static JavaArchive testKit() {
        URL code = RateLimits.class.getProtectionDomain().getCodeSource().getLocation();
        return ShrinkWrap.create(ZipImporter.class, "weir-test-kit.jar")
                .importFrom(new File(URI.create(code.toString())))
                .as(JavaArchive.class);
    }

    /** Returns the example. */
    static WebArchive example() {
        return ShrinkWrap.createFromZipFile(WebArchive.class, new File(System.getProperty("weir.example.war")));
    }

    /** Returns the example with an additional line of configuration. */
    static WebArchive exampleWith(String property) {
        String path = "/WEB-INF/classes/META-INF/microprofile-config.properties";
        WebArchive example = example();
        try (InputStream in = example.get(path).getAsset().openStream()) {
            String properties = new String(in.readAllBytes(), StandardCharsets.UTF_8) + "\n" + property + "\n";
            example.delete(path);
            return example.add(new StringAsset(properties), path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path written(WebArchive war, Path directory) {
        Path file = directory.resolve(war.getName());
        war.as(ZipExporter.class).exportTo(file.toFile(), true);
        return file;
    }
}
