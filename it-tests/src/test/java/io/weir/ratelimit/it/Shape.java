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
 * How the test application is built: on each server once as its main run and once as a variant. Not the full cross, but any two
 * values meet in one run. Payara Micro takes no EAR; a WAR without {@code beans.xml} is the example's, on each server.
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
record Shape(Rest rest, Packaging packaging, Discovery discovery) {
    /** Where the application says which resources it has. */
    enum Rest {
        /** In its {@code Application}, by {@code getClasses()}. */
        LISTED,
        /** Nowhere: its {@code Application} has only a path. */
        EMPTY,
        /** Nowhere: there is no {@code Application} of its own, and {@code web.xml} has the path. */
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

    /** Without {@code async-supported} Payara answers 500 to resources that return a {@code CompletionStage}. */
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

    /** That of the main run on the server at hand. */
    static Shape main() {
        return switch (server()) {
            case "liberty" -> new Shape(Rest.LISTED, Packaging.WAR, Discovery.ANNOTATED);
            case "payara" -> new Shape(Rest.EMPTY, Packaging.WAR, Discovery.ALL);
            case "wildfly" -> new Shape(Rest.LISTED, Packaging.EAR, Discovery.ALL);
            default -> throw new IllegalStateException("No such server: " + server());
        };
    }

    /** That of the variant on the server at hand. */
    static Shape variant() {
        return switch (server()) {
            case "liberty" -> new Shape(Rest.EMPTY, Packaging.EAR, Discovery.ANNOTATED);
            case "payara" -> new Shape(Rest.WEB_XML, Packaging.WAR, Discovery.ANNOTATED);
            case "wildfly" -> new Shape(Rest.WEB_XML, Packaging.EAR, Discovery.ALL);
            default -> throw new IllegalStateException("No such server: " + server());
        };
    }

    private static String server() {
        return System.getProperty("arquillian.launch");
    }

    /** The test application in this shape. */
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
        try (InputStream in = Objects.requireNonNull(Shape.class.getResourceAsStream(resource))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
