// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.it.app.EmptyApplication;
import io.weir.ratelimit.it.app.TestApplication;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jboss.shrinkwrap.api.Archive;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.EnterpriseArchive;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/**
 * The build of the test application: on each server a main build and a variant. The builds cover all pairs of values, but not all
 * combinations. Payara Micro supports no EAR. GlassFish and Payara 7 have the builds of Payara Micro, and Open
 * Liberty with Jakarta EE 11 and WildFly Preview have WARs only. The WAR of the example has no {@code beans.xml}.
 *
 * <pre>
 *                        Jakarta REST        packaging   beans.xml
 * Open Liberty           lists its classes   WAR         annotated
 *   variant              empty Application   EAR         annotated
 * Payara Micro           empty Application   WAR         all
 *   variant              web.xml only        WAR         annotated
 * WildFly                lists its classes   EAR         all
 *   variant              web.xml only        EAR         all
 * </pre>
 */
record ApplicationBuild(Rest rest, Packaging packaging, Discovery discovery) {
    /** The way in which the server finds the resources. */
    enum Rest {
        /** By {@code getClasses()} of the {@code Application}. */
        LISTED,
        /** By scanning; the {@code Application} has only a path. */
        EMPTY,
        /** By scanning; there is no {@code Application}, and {@code web.xml} has the path. */
        WEB_XML
    }

    enum Packaging {
        WAR,
        EAR
    }

    enum Discovery {
        ANNOTATED,
        ALL
    }

    /** Without {@code async-supported}, Payara returns 500 for resources with a {@code CompletionStage}. */
    private static final String MAPPING = """
                <servlet>
                    <servlet-name>jakarta.ws.rs.core.Application</servlet-name>
                    <async-supported>true</async-supported>
                </servlet>
                <servlet-mapping>
                    <servlet-name>jakarta.ws.rs.core.Application</servlet-name>
                    <url-pattern>/api/*</url-pattern>
                </servlet-mapping>
            """;

    /** Returns the main build for the current server. */
    static ApplicationBuild main() {
        return switch (server()) {
            case "liberty" -> new ApplicationBuild(Rest.LISTED, Packaging.WAR, Discovery.ANNOTATED);
            case "libertyee11", "wildflypreview" -> new ApplicationBuild(Rest.LISTED, Packaging.WAR, Discovery.ALL);
            case "payara", "payara7", "glassfish" -> new ApplicationBuild(Rest.EMPTY, Packaging.WAR, Discovery.ALL);
            case "wildfly" -> new ApplicationBuild(Rest.LISTED, Packaging.EAR, Discovery.ALL);
            default -> throw new IllegalStateException("No such server: " + server());
        };
    }

    /** Returns the variant for the current server. */
    static ApplicationBuild variant() {
        return switch (server()) {
            case "liberty" -> new ApplicationBuild(Rest.EMPTY, Packaging.EAR, Discovery.ANNOTATED);
            case "libertyee11", "wildflypreview" ->
                new ApplicationBuild(Rest.EMPTY, Packaging.WAR, Discovery.ANNOTATED);
            case "payara", "payara7", "glassfish" ->
                new ApplicationBuild(Rest.WEB_XML, Packaging.WAR, Discovery.ANNOTATED);
            case "wildfly" -> new ApplicationBuild(Rest.WEB_XML, Packaging.EAR, Discovery.ALL);
            default -> throw new IllegalStateException("No such server: " + server());
        };
    }

    /** Returns the name of the server that Arquillian starts; empty if a test starts its own. */
    static String server() {
        return System.getProperty("arquillian.launch", "");
    }

    /** Builds the test application. */
    Archive<?> application() {
        WebArchive war = TestWar.application();
        if (rest != Rest.LISTED) {
            war.deleteClass(TestApplication.class);
        }
        if (rest == Rest.EMPTY) {
            war.addClass(EmptyApplication.class);
        }
        if (rest == Rest.WEB_XML) {
            String xml = text("/app/web.xml").replace("</web-app>", MAPPING + "</web-app>");
            war.delete("/WEB-INF/web.xml");
            war.addAsWebInfResource(new StringAsset(xml), "web.xml");
        }
        war.addAsWebInfResource(new StringAsset(beans()), "beans.xml");
        return packaging == Packaging.WAR
                ? war
                : ShrinkWrap.create(EnterpriseArchive.class, "weir-test.ear").addAsModule(war);
    }

    private String beans() {
        return "<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\" bean-discovery-mode=\""
                + (discovery == Discovery.ALL ? "all" : "annotated") + "\"/>";
    }

    private static String text(String resource) {
        try (InputStream in = Objects.requireNonNull(ApplicationBuild.class.getResourceAsStream(resource))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
