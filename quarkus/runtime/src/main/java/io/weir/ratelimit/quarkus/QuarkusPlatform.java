// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.arc.Arc;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.cdi.CdiPlatform;
import io.weir.ratelimit.interceptor.cdi.CurrentConfig;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis.Export;
import jakarta.enterprise.inject.spi.CDI;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;

/** The platform of a Quarkus application. */
final class QuarkusPlatform extends CdiPlatform {
    private final Config config;
    private final CallThreads threads;

    QuarkusPlatform(Discovered discovered, Config config, CallThreads threads) {
        super(Arc.container().beanManager(), CDI.current(), discovered, config, sources(config));
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

    /** The new configurations have the profiles of Quarkus, which its sources do not set. */
    private static CurrentConfig sources(Config config) {
        List<String> profiles =
                new ArrayList<>(config.unwrap(SmallRyeConfig.class).getProfiles());
        Collections.reverse(profiles); // the last profile of a builder precedes the others
        return CurrentConfig.of(
                config,
                () -> new SmallRyeConfigBuilder().addDefaultInterceptors().withProfiles(profiles),
                QuarkusPlatform::isOfQuarkus);
    }

    /** Quarkus has sources that are empty. Those of its extensions, such as a secret store, can have policies. */
    private static boolean isOfQuarkus(Class<?> source) {
        return Stream.of("io.quarkus.runtime.", "io.quarkus.devservice.", "io.smallrye.config.")
                .anyMatch(source.getName()::startsWith);
    }
}
