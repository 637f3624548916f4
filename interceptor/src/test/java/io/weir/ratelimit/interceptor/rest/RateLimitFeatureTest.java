// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.ext.Provider;
import java.lang.reflect.Method;
import java.util.ServiceLoader;
import org.glassfish.jersey.model.internal.CommonConfig;
import org.glassfish.jersey.model.internal.ComponentBag;
import org.junit.jupiter.api.Test;

class RateLimitFeatureTest {
    @Test
    void isAServiceAndAProvider() {
        assertThat(ServiceLoader.load(Feature.class)).hasAtLeastOneElementOfType(RateLimitFeature.class);
        assertThat(ScannedFeature.class).hasAnnotation(Provider.class);
        assertThat(RateLimitFeature.class.isAnnotationPresent(Provider.class))
                .as("no class is found both ways")
                .isFalse();
    }

    @Test
    void registersTheFiltersOnce() {
        CommonConfig config = new CommonConfig(RuntimeType.SERVER, ComponentBag.INCLUDE_ALL);

        assertThat(new RateLimitFeature().configure(config)).isTrue();
        assertThat(new ScannedFeature().configure(config)).isFalse();

        assertThat(config.getClasses())
                .contains(RateLimitFilter.class, QuotaFilter.class, ExceededMapper.class, UnavailableMapper.class);
    }

    @Test
    void acceptsAResourceClassWithoutAContainer() {
        CommonConfig config = new CommonConfig(RuntimeType.SERVER, ComponentBag.INCLUDE_ALL);
        new RateLimitFeature().configure(config);

        assertThat(config.getClasses()).contains(ResourceClasses.class);
        assertThatCode(() -> new ResourceClasses().configure(new ThisResource(), config))
                .doesNotThrowAnyException();
    }

    /** A resource method of this class. */
    private record ThisResource() implements ResourceInfo {
        @Override
        public Method getResourceMethod() {
            return getResourceClass().getDeclaredMethods()[0];
        }

        @Override
        public Class<?> getResourceClass() {
            return RateLimitFeatureTest.class;
        }
    }

    @Test
    void registersNothingForAClient() {
        CommonConfig config = new CommonConfig(RuntimeType.CLIENT, ComponentBag.INCLUDE_ALL);

        assertThat(new RateLimitFeature().configure(config)).isFalse();

        assertThat(config.getClasses()).isEmpty();
    }
}
