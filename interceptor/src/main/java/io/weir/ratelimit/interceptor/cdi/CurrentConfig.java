// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigBuilder;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The current configuration. It is created anew from the same sources each time, because servers cache the values of their own
 * configuration (Payara: for a minute), and ask each source for each name.
 */
public final class CurrentConfig implements ConfigProperties.Sources {
    private final Config server;
    private final Supplier<ConfigBuilder> builders;
    private final Predicate<Class<?>> providedByServer;
    private final Set<String> environment;

    /** The sources of the environment, which are not remote and never empty. */
    private final List<ConfigSource> ofEnvironment = new ArrayList<>();

    private final Set<String> partial = new TreeSet<>();
    private final ConfigProperties first;
    private final Optional<String> difference;
    private List<SourceReading> readings = new ArrayList<>();
    private boolean askedForAll;

    private CurrentConfig(
            Config server,
            Supplier<ConfigBuilder> builders,
            Predicate<Class<?>> providedByServer,
            Set<String> environment) {
        this.server = server;
        this.builders = builders;
        this.providedByServer = providedByServer;
        this.environment = environment;
        ConfigProperties ofServer = new MicroProfileProperties(server, environment, List.of());
        ConfigProperties read = ofServer;
        String reason = "the values differ";
        try {
            for (ConfigSource source : server.getConfigSources()) {
                SourceReading reading = SourceReading.of(source);
                if (MicroProfileProperties.isEnvironment(reading.getPropertyNames(), environment)) {
                    ofEnvironment.add(source);
                } else {
                    readings.add(reading);
                }
            }
            ConfigProperties direct = properties();
            if (isSame(direct, ofServer)) {
                reason = "";
                read = direct;
            }
        } catch (RuntimeException e) {
            reason = e.toString();
        }
        this.first = read.withJoinedLists();
        this.difference = reason.isEmpty() ? Optional.empty() : Optional.of(reason);
    }

    /**
     * Reads the sources of a configuration for the first time. The builders know the profiles.
     *
     * @param server the configuration of the server, which is used if one from the same sources has other values
     * @param providedByServer tests whether the server provides the sources of a class, which are often empty
     */
    public static CurrentConfig of(
            Config server, Supplier<ConfigBuilder> builders, Predicate<Class<?>> providedByServer) {
        return new CurrentConfig(
                server, builders, providedByServer, System.getenv().keySet());
    }

    static CurrentConfig of(Config server) {
        return of(server, System.getenv().keySet());
    }

    static CurrentConfig of(Config server, Set<String> environment) {
        return new CurrentConfig(
                server,
                () -> ConfigProviderResolver.instance().getBuilder(),
                source -> isOf(server, source),
                Set.copyOf(environment));
    }

    @Override
    public ConfigProperties first() {
        return first;
    }

    @Override
    public Optional<String> difference() {
        return difference;
    }

    @Override
    public Set<String> withoutNames() {
        Set<String> names = new TreeSet<>();
        readings.stream()
                .filter(reading -> reading.isWithoutNames()
                        && !providedByServer.test(reading.source().getClass()))
                .forEach(reading -> names.add(name(reading)));
        return names;
    }

    /**
     * Reads the sources again. The second reading asks for all names, and so finds sources that list only some of theirs. The problems of
     * the configuration name the sources that are empty now.
     */
    @Override
    public synchronized ConfigProperties get() {
        if (difference.isPresent()) {
            return new MicroProfileProperties(server, environment, List.of()).withJoinedLists();
        }
        List<SourceReading> next = new ArrayList<>();
        for (SourceReading reading : readings) {
            if (reading.isPartial() && partial.add(name(reading))) {
                MESSAGES.log("WEIR-326", name(reading));
            }
            next.add(reading.next(!askedForAll));
        }
        askedForAll = true;
        readings = next;
        return properties().withJoinedLists();
    }

    private ConfigProperties properties() {
        List<ConfigSource> sources = new ArrayList<>(ofEnvironment);
        List<ConfigurationProblem> problems = new ArrayList<>();
        for (SourceReading reading : readings) {
            sources.add(reading);
            reading.kept().ifPresent(kept -> {
                sources.add(kept);
                problems.add(ConfigProperties.Sources.emptied("configuration source " + name(reading)));
            });
        }
        Config config =
                builders.get().withSources(sources.toArray(ConfigSource[]::new)).build();
        return new MicroProfileProperties(config, environment, problems);
    }

    private static boolean isSame(ConfigProperties one, ConfigProperties other) {
        Set<String> names = one.names();
        return names.equals(other.names())
                && one.problems().equals(other.problems())
                && names.stream().allMatch(name -> one.get(name).equals(other.get(name)));
    }

    private static String name(SourceReading reading) {
        return ConfigProperties.Sources.masked(String.valueOf(reading.getName()));
    }

    /** Tests whether the server provides the sources of a class, as RESTEasy, Payara and SmallRye Config do, also as a library. */
    private static boolean isOf(Config server, Class<?> source) {
        return source.getClassLoader() != CurrentConfig.class.getClassLoader()
                || Objects.equals(location(source), location(server.getClass()));
    }

    private static @Nullable String location(Class<?> type) {
        CodeSource code = type.getProtectionDomain().getCodeSource();
        return code == null ? null : String.valueOf(code.getLocation());
    }
}
