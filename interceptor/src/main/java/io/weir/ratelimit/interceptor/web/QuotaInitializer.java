// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.QuotaPath;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A servlet container initializer that adds the quota resource at the path of {@code ratelimit.quota.path}, if it is set. The container
 * finds it even if the {@code web.xml} of the application is {@code metadata-complete}.
 */
public final class QuotaInitializer implements ServletContainerInitializer {
    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        Optional<String> path = QuotaPath.configured();
        if (path.isEmpty()) {
            return;
        }
        ServletRegistration.Dynamic servlet = context.addServlet(
                QuotaServlet.class.getName(),
                new QuotaServlet(() ->
                        CurrentApplication.extension().application().weir().quotas()));
        if (servlet == null || !servlet.addMapping(path.get()).isEmpty()) {
            MESSAGES.log("WEIR-322", path.get());
        }
    }
}
