// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.weir.ratelimit.console.ProgramReports;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.runtime.BackendProvider;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;

/** The platform of the server: files and environment variables, entries of descriptors as key terms, meters of OpenTelemetry. */
final class EnvoyPlatform implements Platform {
    private final ConfigProperties.Sources sources;
    private final EnvoyPlugin plugin;
    private final Set<String> variables;
    private final List<Object> objects = new ArrayList<>();
    private final List<RateLimitBackend> backends = new ArrayList<>();

    EnvoyPlatform(ConfigProperties.Sources sources, EnvoyPlugin plugin, Set<String> variables) {
        this.sources = sources;
        this.plugin = plugin;
        this.variables = Set.copyOf(variables);
        ServiceLoader.load(BackendProvider.class)
                .forEach(provider -> backends.add(
                        provider.create(name -> sources.first().get(name).value())));
        objects.addAll(backends);
        objects.add(plugin);
        objects.add(new ProgramReports("weir-envoy"));
    }

    @Override
    public ConfigProperties.Sources properties() {
        return sources;
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return objects.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Override
    public <T> Map<String, T> named(Class<T> type, Problems problems) {
        if (type != KeyResolver.class) {
            return Map.of();
        }
        Map<String, T> terms = new TreeMap<>();
        EntryTerms.of(plugin.over(sources.first())).forEach((name, resolver) -> terms.put(name, type.cast(resolver)));
        return terms;
    }

    @Override
    public boolean hasClaims() {
        return true;
    }

    @Override
    public Set<String> environmentVariables() {
        return variables;
    }

    /** Uses the OpenTelemetry of an agent. Without one, nothing is recorded. */
    @Override
    public Telemetry telemetry(Settings settings, String backend, KeyMasker masker, Problems problems) {
        if (settings.metrics() == Settings.Metrics.MP) {
            problems.add(MESSAGES.problem("WEIR-704", "ratelimit.metrics", "mp"));
        }
        Optional<Telemetry.Metrics> metrics = settings.metrics() == Settings.Metrics.NONE
                ? Optional.empty()
                : Optional.of(Telemetry.Metrics.of(
                        new ServerMeters(GlobalOpenTelemetry.get().getMeter("io.weir.ratelimit")), settings, backend));
        return Telemetry.of(metrics, Telemetry.Spans.NONE, List.of(), masker);
    }

    @Override
    public void closed() {
        for (RateLimitBackend backend : backends) {
            if (backend instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Exception e) {
                    MessageCatalog.debug("The backend is not closed", e);
                }
            }
        }
    }
}
