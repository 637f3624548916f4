// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The plug-ins of one limiter in a fixed order. */
record Plugins(List<Plugin> all) {
    /** Finds the objects of the application and the services. */
    static Plugins of(Platform platform) {
        List<Plugin> all = new ArrayList<>(platform.all(Plugin.class));
        Set<Class<?>> types = new HashSet<>();
        for (ClassLoader loader : loaders()) {
            ServiceLoader.load(Plugin.class, loader).stream()
                    .filter(provider -> types.add(provider.type()))
                    .forEach(provider -> all.add(provider.get()));
        }
        return new Plugins(List.copyOf(all));
    }

    /** Returns two class loaders: in an EAR, a plug-in can be in a WAR and this library in the EAR. */
    private static Set<ClassLoader> loaders() {
        return Arrays.asList(Thread.currentThread().getContextClassLoader(), Plugin.class.getClassLoader()).stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    List<MethodLimits> endpoints() {
        return all.stream().flatMap(plugin -> plugin.endpoints().stream()).toList();
    }

    void check(Policy policy, ConfigProperties config, Problems problems) {
        all.forEach(plugin -> plugin.check(policy, config, problems));
    }

    /** Reports the properties, and the environment variables, of plug-ins that the application does not contain. */
    void checkAbsent(ConfigProperties config, Set<String> variables, Problems problems) {
        Set<String> present =
                all.stream().flatMap(plugin -> plugin.properties().stream()).collect(Collectors.toSet());
        Set<String> reported = new HashSet<>();
        for (ConfigKey<?> key : ConfigKeys.all()) {
            ConfigKeys.artifact(key.name())
                    .filter(artifact -> !present.contains(key.name()))
                    .ifPresent(artifact -> places(key, config, variables).stream()
                            .filter(reported::add)
                            .forEach(
                                    place -> problems.add(MESSAGES.problem("WEIR-114.artifact", place, "", artifact))));
        }
    }

    /** Returns the names and variables that set a property or a property of its family. */
    private static Set<String> places(ConfigKey<?> key, ConfigProperties config, Set<String> variables) {
        Set<String> places = new TreeSet<>();
        if (key.isOfClient()) {
            config.names().stream()
                    .filter(name -> name.startsWith(ConfigKeys.CLIENTS))
                    .forEach(places::add);
            variables.stream().filter(key::isSetBy).forEach(places::add);
        } else if (config.get(key.name())
                .value()
                .filter(value -> !ConfigKeys.isServiceLink(value))
                .isPresent()) {
            places.add(key.name());
        }
        return places;
    }
}
