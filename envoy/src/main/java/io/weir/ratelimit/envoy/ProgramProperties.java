// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The properties of the program. System properties take precedence over environment variables, and these over the files, of which the
 * last one takes precedence. A reload reads the files again. A file without properties can be one that is being written: the last ones that
 * it had stay in force, below all other sources. Nothing resolves expressions, so a value with one cannot be read.
 */
final class ProgramProperties implements ConfigProperties.Sources {
    private static final String PREFIX = "ratelimit.";

    private final List<Path> files;
    private final Map<String, String> environment;
    private final Properties system;

    /** The last properties of each file that had any. */
    private final Map<Path, Properties> last = new ConcurrentHashMap<>();

    private final ConfigProperties first;

    /**
     * Reads the files.
     *
     * @throws IOException if a file cannot be read, or is not a properties file
     */
    ProgramProperties(List<Path> files, Map<String, String> environment, Properties system) throws IOException {
        this.files = List.copyOf(files);
        Map<String, String> variables = new HashMap<>(environment);
        variables.computeIfPresent(
                ConfigKeys.variable(ConfigKeys.ENVOY_PORT.name()),
                (name, value) -> ConfigKeys.isServiceLink(value) ? null : value);
        this.environment = Map.copyOf(variables);
        this.system = system;
        this.first = read();
    }

    @Override
    public ConfigProperties first() {
        return first;
    }

    @Override
    public ConfigProperties get() {
        try {
            return read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ConfigProperties read() throws IOException {
        List<Source> sources = new ArrayList<>();
        List<Source> kept = new ArrayList<>();
        sources.add(new Source("system properties", 400, system));
        for (int i = files.size() - 1; i >= 0; i--) {
            Path file = files.get(i);
            Properties content = content(file);
            Properties before = content.isEmpty() ? last.get(file) : last.put(file, content);
            if (content.isEmpty() && before != null) {
                kept.add(new Source(file.toString(), i - files.size(), before));
            } else {
                sources.add(new Source(file.toString(), 100 + i, content));
            }
        }
        sources.addAll(kept);
        List<ConfigurationProblem> problems = kept.stream()
                .map(source -> ConfigProperties.Sources.emptied("file " + source.name))
                .toList();
        return new Layers(List.copyOf(sources), environment, problems).withJoinedLists();
    }

    private static Properties content(Path file) throws IOException {
        Properties content = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            content.load(reader);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
        return content;
    }

    private record Source(String name, int ordinal, Properties values) {}

    private record Layers(List<Source> sources, Map<String, String> environment, List<ConfigurationProblem> problems)
            implements ConfigProperties {
        private static final Source ENVIRONMENT = new Source("environment variables", 300, new Properties());
        private static final Source NONE = new Source("configuration", 0, new Properties());

        @Override
        public ConfigProperties.Property get(String name) {
            Source source = sourceOf(name);
            String value = source.equals(ENVIRONMENT)
                    ? environment.get(ConfigKeys.variable(name))
                    : source.values.getProperty(name);
            return value == null ? ConfigProperties.Property.ABSENT : ConfigProperties.Property.literal(value);
        }

        private Source sourceOf(String name) {
            for (Source source : sources) {
                if (source.ordinal < ENVIRONMENT.ordinal && environment.containsKey(ConfigKeys.variable(name))) {
                    return ENVIRONMENT;
                }
                if (source.values.getProperty(name) != null) {
                    return source;
                }
            }
            return environment.containsKey(ConfigKeys.variable(name)) ? ENVIRONMENT : NONE;
        }

        @Override
        public String source(String name) {
            return sourceOf(name).name;
        }

        @Override
        public int ordinal(String name) {
            return sourceOf(name).ordinal;
        }

        @Override
        public Set<String> names() {
            Set<String> names = new TreeSet<>();
            for (Source source : sources) {
                source.values.stringPropertyNames().stream()
                        .filter(name -> name.startsWith(PREFIX))
                        .forEach(names::add);
            }
            return names;
        }
    }
}
