// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.resteasy.reactive.server.spi.MethodScannerBuildItem;
import io.quarkus.resteasy.reactive.spi.ContainerRequestFilterBuildItem;
import io.quarkus.resteasy.reactive.spi.ContainerResponseFilterBuildItem;
import io.quarkus.resteasy.reactive.spi.ExceptionMapperBuildItem;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.interceptor.rest.ExceededMapper;
import io.weir.ratelimit.interceptor.rest.SpanFilter;
import io.weir.ratelimit.interceptor.rest.UnavailableMapper;
import io.weir.ratelimit.interceptor.rest.WrappedMapper;
import io.weir.ratelimit.quarkus.RequestFilters;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.MethodInfo;
import org.jboss.resteasy.reactive.server.model.HandlerChainCustomizer;
import org.jboss.resteasy.reactive.server.processor.scanning.MethodScanner;

/** The build steps for Quarkus REST. It loads no features as services, and a feature runs before the configuration is known. */
class RestProcessor {
    private static final int EARLY = 100;
    private static final int LAST_OF_RESPONSES = 100;

    @BuildStep
    void requests(BuildProducer<ContainerRequestFilterBuildItem> filters) {
        filters.produce(filter(RequestFilters.Arrival.class, true, Integer.MIN_VALUE));
        filters.produce(filter(RequestFilters.Early.class, true, EARLY));
        filters.produce(filter(RequestFilters.MatchedEarly.class, false, Integer.MIN_VALUE));
        filters.produce(filter(RequestFilters.Matched.class, false, Priorities.AUTHORIZATION + 100));
        filters.produce(filter(SpanFilter.class, false, Priorities.USER + 100));
    }

    private static ContainerRequestFilterBuildItem filter(
            Class<? extends ContainerRequestFilter> type, boolean preMatching, int priority) {
        return new ContainerRequestFilterBuildItem.Builder(type.getName())
                .setPreMatching(preMatching)
                .setPriority(priority)
                .setRegisterAsBean(true)
                .build();
    }

    @BuildStep
    MethodScannerBuildItem locators() {
        return new MethodScannerBuildItem(new MethodScanner() {
            @Override
            public List<HandlerChainCustomizer> scan(
                    MethodInfo method, ClassInfo resource, Map<String, Object> context) {
                return List.of(new RequestFilters.Locators());
            }
        });
    }

    @BuildStep
    ContainerResponseFilterBuildItem responses() {
        return new ContainerResponseFilterBuildItem.Builder(RequestFilters.Quotas.class.getName())
                .setPriority(LAST_OF_RESPONSES)
                .setRegisterAsBean(true)
                .build();
    }

    @BuildStep
    void mappers(BuildProducer<ExceptionMapperBuildItem> mappers) {
        mappers.produce(mapper(ExceededMapper.class, RateLimitExceededException.class));
        mappers.produce(mapper(UnavailableMapper.class, RateLimitUnavailableException.class));
        mappers.produce(mapper(WrappedMapper.OfJoin.class, CompletionException.class));
        mappers.produce(mapper(WrappedMapper.OfGet.class, ExecutionException.class));
    }

    private static ExceptionMapperBuildItem mapper(
            Class<? extends ExceptionMapper<?>> type, Class<? extends Throwable> exception) {
        return new ExceptionMapperBuildItem(type.getName(), exception.getName(), Integer.MAX_VALUE, true);
    }
}
