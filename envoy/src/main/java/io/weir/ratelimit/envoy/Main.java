// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.weir.ratelimit.runtime.InvalidConfigurationException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The program. Its arguments are properties files, of which the last one takes precedence. Environment variables and system properties take
 * precedence over files.
 */
public final class Main {
    /** The exit status if the configuration is invalid. */
    static final int INVALID_CONFIGURATION = 1;

    /** The exit status if the server cannot use its port, its socket or its certificate. */
    static final int CANNOT_SERVE = 2;

    private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";

    /** Netty warns of each connection of a socket without keep-alive. JUL keeps no logger that nobody refers to. */
    private static final Logger NETTY = Logger.getLogger("io.netty.bootstrap");

    private Main() {}

    /**
     * Runs the server until the process ends.
     *
     * @param arguments the names of properties files
     */
    public static void main(String[] arguments) throws InterruptedException {
        if (System.getProperty(LOG_FORMAT) == null) {
            System.setProperty(LOG_FORMAT, "%1$tFT%1$tT.%1$tL%1$tz %4$s %3$s: %5$s%6$s%n");
        }
        NETTY.setLevel(Level.SEVERE);
        int status = run(Arrays.stream(arguments).map(Path::of).toList());
        if (status != 0) {
            System.exit(status);
        }
    }

    private static int run(List<Path> files) throws InterruptedException {
        ProgramProperties properties;
        try {
            properties = new ProgramProperties(files, System.getenv(), System.getProperties());
        } catch (IOException e) {
            System.err.println(MESSAGES.text("WEIR-728", e.getMessage()));
            return INVALID_CONFIGURATION;
        }
        EnvoyServer server;
        try {
            server = new EnvoyServer(properties, System.getenv().keySet());
        } catch (InvalidConfigurationException e) {
            System.err.println(e.getMessage());
            return INVALID_CONFIGURATION;
        } catch (IOException | GeneralSecurityException e) {
            System.err.println(MESSAGES.text("WEIR-729", e));
            return CANNOT_SERVE;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "weir-stop"));
        try {
            server.start();
        } catch (IOException | RuntimeException e) {
            System.err.println(MESSAGES.text("WEIR-729", e));
            return CANNOT_SERVE;
        }
        server.awaitEnd();
        return 0;
    }
}
