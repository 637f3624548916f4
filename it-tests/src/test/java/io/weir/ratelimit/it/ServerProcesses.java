// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.it.ServerProcesses.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jboss.arquillian.container.spi.client.container.ContainerConfiguration;
import org.jboss.arquillian.container.spi.client.container.DeployableContainer;
import org.jboss.arquillian.container.spi.client.protocol.ProtocolDescription;
import org.jboss.arquillian.container.spi.client.protocol.metadata.HTTPContext;
import org.jboss.arquillian.container.spi.client.protocol.metadata.ProtocolMetaData;
import org.jboss.arquillian.container.spi.client.protocol.metadata.Servlet;
import org.jboss.arquillian.core.spi.LoadableExtension;
import org.jboss.shrinkwrap.api.Archive;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.descriptor.api.Descriptor;

/**
 * An adapter of Arquillian for servers that are processes: each deployment starts a {@link Server} with one application. It takes the
 * server from {@code arquillian.launch}, and is inactive if another adapter has this server.
 */
public final class ServerProcesses implements LoadableExtension, DeployableContainer<Settings> {
    private static final Map<String, Function<String, ServerBuilder<?>>> SERVERS = Map.of(
            "payara", PayaraServer::named,
            "glassfish", name -> GlassFishServer.named(name).javaHome(NewerJdk.required("GlassFish")),
            "glassfishvirtual",
                    name -> GlassFishServer.named(name)
                            .javaHome(NewerJdk.required("GlassFish"))
                            .virtualThreads(),
            "payara7", name -> PayaraServer.named(name).jar("weir.payara7.jar").javaHome(NewerJdk.required("Payara 7")),
            "libertyee11", name -> LibertyServer.named(name).jakartaEe11().withUsers(),
            "wildflypreview", name -> WildFlyServer.named(name).preview());

    private static final Duration MAX_WAIT = Duration.ofMinutes(4);

    /** The servlet that Arquillian adds to a deployment for its tests in the container. */
    private static final String RUNNER = "ArquillianServletRunnerEE9";

    private Server server;

    /** Settings of {@code arquillian.xml}, of which there are none. */
    public static final class Settings implements ContainerConfiguration {
        @Override
        public void validate() {}
    }

    @Override
    public void register(ExtensionBuilder builder) {
        if (SERVERS.containsKey(launched())) {
            builder.service(DeployableContainer.class, ServerProcesses.class);
        }
    }

    @Override
    public Class<Settings> getConfigurationClass() {
        return Settings.class;
    }

    @Override
    public void setup(Settings settings) {}

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public ProtocolDescription getDefaultProtocol() {
        return new ProtocolDescription("Servlet 5.0");
    }

    @Override
    public ProtocolMetaData deploy(Archive<?> archive) {
        try {
            Path war = Files.createDirectories(Server.directory("wars")).resolve(name() + ".war");
            archive.as(ZipExporter.class).exportTo(war.toFile(), true);
            server = SERVERS.get(launched())
                    .apply(name())
                    .war(war)
                    .maxWait(MAX_WAIT)
                    .startDeployed();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        HTTPContext context = new HTTPContext("localhost", server.baseUri().getPort());
        return new ProtocolMetaData().addContext(context.add(new Servlet(RUNNER, "/")));
    }

    @Override
    public void undeploy(Archive<?> archive) {
        if (server != null) {
            server.close();
            server = null;
        }
    }

    @Override
    public void deploy(Descriptor descriptor) {
        throw new UnsupportedOperationException("only archives are deployed");
    }

    @Override
    public void undeploy(Descriptor descriptor) {
        throw new UnsupportedOperationException("only archives are deployed");
    }

    /** Returns the name of the server and the number of this JVM, since another JVM can run the tests of the same server. */
    private static String name() {
        return launched() + "-" + Server.required("weir.test.fork");
    }

    private static String launched() {
        return System.getProperty("arquillian.launch", "");
    }
}
