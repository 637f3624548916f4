// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.it.app.ChangingSource;
import io.weir.ratelimit.it.app.EmptyApplication;
import io.weir.ratelimit.it.app.TestApplication;
import io.weir.ratelimit.it.app.Users;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jboss.shrinkwrap.api.Filters;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** Applications for tests, with the libraries of the example's WAR. */
final class TestWar {
    private TestWar() {}

    /** The application of the package {@code app}. */
    static WebArchive application() {
        return libraries("weir-test.war")
                .addPackage(TestApplication.class.getPackage())
                .deleteClass(EmptyApplication.class)
                .addAsServiceProvider(ConfigSource.class, ChangingSource.class)
                .addAsWebInfResource("app/web.xml", "web.xml")
                .addAsResource("app/microprofile-config.properties", "META-INF/microprofile-config.properties");
    }

    /** The application of the package of this name, which leaves it to the server to find its classes. */
    static WebArchive of(String name) {
        return libraries("weir-" + name + ".war")
                .addPackage(TestWar.class.getPackageName() + "." + name)
                .addAsWebInfResource(
                        new StringAsset("<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\""
                                + " bean-discovery-mode=\"all\"/>"),
                        "beans.xml")
                .addAsResource(name + "/microprofile-config.properties", "META-INF/microprofile-config.properties");
    }

    /** The application of the package {@code policies}, with the users of the other. */
    static WebArchive policies() {
        return of("policies").addClass(Users.class).addAsWebInfResource("policies/web.xml", "web.xml");
    }

    /** Nothing but libraries. */
    static WebArchive libraries(String name) {
        return ShrinkWrap.create(WebArchive.class, name)
                .merge(example(), "/", Filters.include("/WEB-INF/(lib/.*|ibm-web-ext\\.xml)"));
    }

    /** The example, as the build made it. */
    static WebArchive example() {
        return ShrinkWrap.createFromZipFile(WebArchive.class, new File(System.getProperty("weir.example.war")));
    }

    /** The example, with a line more in its configuration. */
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
