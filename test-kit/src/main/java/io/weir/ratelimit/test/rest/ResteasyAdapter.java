// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.rest;

import io.weir.ratelimit.interceptor.rest.RateLimitFeature;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.SecurityContext;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.resteasy.core.ResteasyContext;
import org.jboss.resteasy.core.ResteasyDeploymentImpl;
import org.jboss.resteasy.core.SynchronousDispatcher;
import org.jboss.resteasy.core.SynchronousExecutionContext;
import org.jboss.resteasy.core.providerfactory.ResteasyProviderFactoryImpl;
import org.jboss.resteasy.mock.MockHttpRequest;
import org.jboss.resteasy.mock.MockHttpResponse;
import org.jboss.resteasy.spi.ResteasyDeployment;
import org.jboss.resteasy.spi.ResteasyProviderFactory;

/** RESTEasy. */
final class ResteasyAdapter implements RestAdapter {
    private final ResteasyDeployment deployment = new ResteasyDeploymentImpl();

    ResteasyAdapter(Application application) {
        ResteasyProviderFactory providers = new ResteasyProviderFactoryImpl();
        providers.property(RateLimitFeature.WITHOUT_SERVLETS, true);
        deployment.setProviderFactory(providers);
        deployment.setApplication(application);
        deployment.setInjectorFactoryClass("org.jboss.resteasy.cdi.CdiInjectorFactory");
        deployment.start();
    }

    @Override
    public Reply call(Call call) {
        MockHttpRequest request = MockHttpRequest.create(call.method(), call.uri(), call.base());
        call.fields().forEach((name, values) -> values.forEach(value -> request.header(name, value)));
        request.content(call.body());
        call.properties().forEach(request::setAttribute);
        MockHttpResponse response = new MockHttpResponse();
        SynchronousDispatcher dispatcher = (SynchronousDispatcher) deployment.getDispatcher();
        // The calling thread waits for the end of an asynchronous call.
        request.setAsynchronousContext(new SynchronousExecutionContext(dispatcher, request, response));
        ResteasyContext.pushContext(SecurityContext.class, call.security());
        try {
            dispatcher.invoke(request, response);
        } finally {
            ResteasyContext.clearContextData();
            // RESTEasy keeps a map of its own.
            request.getAttributeNames()
                    .asIterator()
                    .forEachRemaining(name -> call.properties().put(name, request.getAttribute(name)));
        }
        return reply(response);
    }

    private static Reply reply(MockHttpResponse response) {
        Map<String, List<String>> fields = new HashMap<>();
        response.getOutputHeaders()
                .forEach((name, values) ->
                        fields.put(name, values.stream().map(String::valueOf).toList()));
        return new Reply(response.getStatus(), fields, new String(response.getOutput(), StandardCharsets.UTF_8));
    }
}
