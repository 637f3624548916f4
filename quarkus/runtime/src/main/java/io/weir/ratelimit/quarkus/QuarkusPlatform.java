// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.arc.Arc;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.cdi.CdiPlatform;
import io.weir.ratelimit.interceptor.cdi.MicroProfileProperties;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis.Export;
import jakarta.enterprise.inject.spi.CDI;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;

/** The platform of a Quarkus application. */
final class QuarkusPlatform extends CdiPlatform {
    private final Config config;
    private final CallThreads threads;

    QuarkusPlatform(Discovered discovered, Config config, CallThreads threads) {
        super(Arc.container().beanManager(), CDI.current(), discovered, config, new Sources(config));
        this.config = config;
        this.threads = threads;
    }

    /** The interceptor observes the result of a method that returns a {@code Uni} or a {@code Multi}. */
    @Override
    public AnnotatedMethods methods(Problems problems) {
        AnnotatedMethods found = super.methods(problems);
        return new AnnotatedMethods(
                found.methods().stream()
                        .map(limited -> isObserved(limited.method()) ? limited.withKnownEnd() : limited)
                        .toList(),
                found.scanner(),
                found.managed());
    }

    private static boolean isObserved(Method method) {
        return method.getReturnType() == Uni.class || method.getReturnType() == Multi.class;
    }

    @Override
    public Supplier<Executor> executor() {
        return threads::executor;
    }

    @Override
    public Threads lookupThreads() {
        return new Threads(Threads.DAEMONS.factory(), () -> CallThreads::inNewScope);
    }

    /** OpenTelemetry of Quarkus is enabled by default, but its metrics are not. */
    @Override
    protected Export export() {
        if (isSet("quarkus.otel.sdk.disabled", false) || !isSet("quarkus.otel.enabled", true)) {
            return Export.NOTHING;
        }
        return isSet("quarkus.otel.metrics.enabled", false) ? Export.METRICS : Export.SPANS;
    }

    @Override
    public boolean hasForwardedPeers() {
        return isSet("quarkus.http.proxy.proxy-address-forwarding", false);
    }

    private boolean isSet(String property, boolean byDefault) {
        return config.getOptionalValue(property, Boolean.class).orElse(byDefault);
    }

    /** The configuration of Quarkus, which knows the profiles. It asks its sources at each access, so that a reload has new values. */
    private record Sources(Config config) implements ConfigProperties.Sources {
        @Override
        public ConfigProperties first() {
            return new MicroProfileProperties(config).withJoinedLists();
        }

        @Override
        public ConfigProperties get() {
            return first();
        }
    }
}
