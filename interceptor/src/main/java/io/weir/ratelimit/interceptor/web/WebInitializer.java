// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.ServiceLoading;
import io.weir.ratelimit.interceptor.servlet.RequestEndFilter;
import io.weir.ratelimit.interceptor.servlet.UnlimitedServlets;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A servlet container initializer that adds the filter for the end of requests, and the quota resource at the path of {@code
 * ratelimit.quota.path}, if it is set. The container finds it even if the {@code web.xml} of the application is {@code metadata-complete}.
 */
public final class WebInitializer implements ServletContainerInitializer {
    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        CurrentApplication.quotaPath().ifPresent(path -> addQuotas(path, context));
        UnlimitedServlets unlimited = new UnlimitedServlets(
                ServiceLoading.FEATURE,
                () -> CurrentApplication.extension().application().hasPolicies());
        FilterRegistration.Dynamic filter =
                context.addFilter(RequestEndFilter.class.getName(), new RequestEndFilter(unlimited));
        if (filter != null) { // no other copy of this library has added it
            filter.setAsyncSupported(true);
            filter.addMappingForUrlPatterns(
                    EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR), false, "/*");
        }
    }

    private static void addQuotas(String path, ServletContext context) {
        ServletRegistration.Dynamic servlet = context.addServlet(
                QuotaServlet.class.getName(),
                new QuotaServlet(() ->
                        CurrentApplication.extension().application().weir().quotas()));
        if (servlet == null || !servlet.addMapping(path).isEmpty()) {
            MESSAGES.log("WEIR-322", path);
        }
    }
}
