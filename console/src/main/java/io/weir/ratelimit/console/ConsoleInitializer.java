// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.operate.Access;
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
 * Puts the page under {@code /ratelimit} of an application that has switched it on. Found by the container, also where the application's descriptor is
 * complete by its own account.
 */
@HandlesTypes(ApplicationPath.class)
public final class ConsoleInitializer implements ServletContainerInitializer {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");
    private static final String PATH = "/ratelimit";

    /** For the container only. */
    public ConsoleInitializer() {}

    @Override
    public void onStartup(@Nullable Set<Class<?>> applications, ServletContext context) {
        Optional<Access> access = access();
        if (access.isPresent() && !access.get().enabled()) {
            return;
        }
        if (applications != null && applications.stream().anyMatch(ConsoleInitializer::isHere)) {
            tellOfTaken(context);
            return;
        }
        ServletRegistration.Dynamic servlet = context.addServlet(
                ConsoleServlet.class.getName(), new ConsoleServlet(Console::find, Clock.systemUTC(), System::nanoTime));
        if (servlet == null || !servlet.addMapping(PATH + "/*").isEmpty()) {
            tellOfTaken(context);
            return;
        }
        servlet.setAsyncSupported(true);
        access.ifPresent(known -> tell(known, context));
    }

    /** Where REST resources have this path, their mapping may come after this one. */
    private static boolean isHere(Class<?> application) {
        ApplicationPath path = application.getAnnotation(ApplicationPath.class);
        return path != null && ("/" + path.value() + "/").replaceAll("/+", "/").startsWith(PATH + "/");
    }

    /** Empty if the deployment does not know yet; then each request asks. */
    private static Optional<Access> access() {
        try {
            return Optional.of(Console.find().operations().access());
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "whether there is an operators' page is not known yet", e);
            return Optional.empty();
        }
    }

    private static void tell(Access access, ServletContext context) {
        LOG.log(
                Level.INFO,
                "WEIR-506 the operators'' page is at {0}, for {1}",
                address(context),
                access.role()
                        .map(role -> "users with the role " + role)
                        .orElse(access.open() ? "everybody" : "nobody"));
    }

    private static void tellOfTaken(ServletContext context) {
        LOG.log(
                Level.WARNING,
                "WEIR-501 the operators'' page is not there: the application itself answers requests under {0}",
                address(context));
    }

    /** Open Liberty calls the root {@code /}. */
    private static String address(ServletContext context) {
        return (context.getContextPath() + PATH + "/").replaceAll("/+", "/");
    }
}
