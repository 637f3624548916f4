// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.Operations;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.annotation.HandlesTypes;
import jakarta.ws.rs.ApplicationPath;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A servlet container initializer that adds the console at {@code /ratelimit} if it is enabled. The container finds it even if the {@code
 * web.xml} of the application is {@code metadata-complete}.
 */
@HandlesTypes(ApplicationPath.class)
public final class ConsoleInitializer implements ServletContainerInitializer {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");
    private static final String PATH = "/ratelimit";

    @Override
    public void onStartup(@Nullable Set<Class<?>> applications, ServletContext context) {
        Optional<Access> access = access();
        if (access.isPresent() && !access.get().enabled()) {
            return;
        }
        if (applications != null && applications.stream().anyMatch(ConsoleInitializer::usesPath)) {
            logPathInUse(context);
            return;
        }
        ServletRegistration.Dynamic servlet = context.addServlet(
                ConsoleServlet.class.getName(),
                new ConsoleServlet(new ConsoleResource(Console::find, Clock.systemUTC(), System::nanoTime)));
        if (servlet == null || !servlet.addMapping(PATH + "/*").isEmpty()) {
            logPathInUse(context);
            return;
        }
        servlet.setAsyncSupported(true);
        context.addListener(new ServerName());
        access.ifPresent(known -> logAvailable(known, context));
    }

    /** Returns whether a REST application has this path. Its servlet mapping can be added after this one. */
    private static boolean usesPath(Class<?> application) {
        ApplicationPath path = application.getAnnotation(ApplicationPath.class);
        return path != null && ("/" + path.value() + "/").replaceAll("/+", "/").startsWith(PATH + "/");
    }

    /** Returns the access settings; empty if the deployment has not ended. Then each request checks them. */
    private static Optional<Access> access() {
        try {
            return Optional.of(CDI.current().select(Operations.class).get().access());
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "the access settings of the console are not available yet", e);
            return Optional.empty();
        }
    }

    private static void logAvailable(Access access, ServletContext context) {
        MESSAGES.log(
                LOG,
                "WEIR-506",
                address(context),
                access.role()
                        .map(role -> "users with the role " + role)
                        .orElse(access.open() ? "everyone" : "no user"));
    }

    private static void logPathInUse(ServletContext context) {
        MESSAGES.log(LOG, "WEIR-501", address(context));
    }

    /** Returns the path of the console. On Open Liberty, the root context path is {@code /}. */
    private static String address(ServletContext context) {
        return (context.getContextPath() + PATH + "/").replaceAll("/+", "/");
    }
}
