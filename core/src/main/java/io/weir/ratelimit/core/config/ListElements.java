// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Properties over a configuration whose file format has lists. Such a source has one property per element: {@code name[0]} (SmallRye
 * Config), {@code name.[0]} (its first versions) or {@code name.0} (Helidon Config). Readers see the list as one property, whose elements commas separate.
 */
final class ListElements implements ConfigProperties {
    private static final Pattern ELEMENT = Pattern.compile("(.+?)(?:\\.?\\[(\\d{1,6})]|\\.(\\d{1,6}))");

    private final ConfigProperties config;
    private final Set<String> names = new TreeSet<>();

    /** The names of the elements of each list, in their order. */
    private final Map<String, SortedMap<Integer, String>> elements = new TreeMap<>();

    /** Joins the lists of a configuration, whose names are read once. */
    ListElements(ConfigProperties config) {
        this.config = config;
        for (String name : config.names()) {
            Matcher element = ELEMENT.matcher(name);
            if (element.matches() && ConfigKeys.isList(element.group(1))) {
                String position = element.group(2) == null ? element.group(3) : element.group(2);
                elements.computeIfAbsent(element.group(1), first -> new TreeMap<>())
                        .put(Integer.valueOf(position), name);
                names.add(element.group(1));
            } else {
                names.add(name);
            }
        }
    }

    @Override
    public ConfigProperties.Property get(String name) {
        Collection<String> parts = parts(name);
        if (parts.isEmpty()) {
            return config.get(name);
        }
        if (isWhole(name, parts)) {
            ConfigProperties.Property whole = config.get(name);
            // SmallRye Config adds the list as a text, with a backslash before each comma of an element.
            return whole.value()
                    .map(text -> ConfigProperties.Property.of(text.replace("\\,", ",")))
                    .orElse(whole);
        }
        Set<String> sources = parts.stream().map(config::source).collect(Collectors.toCollection(TreeSet::new));
        if (sources.size() > 1) {
            return ConfigProperties.Property.ofSeveralSources(List.copyOf(sources));
        }
        List<String> values = new ArrayList<>();
        for (String part : parts) {
            ConfigProperties.Property element = config.get(part);
            if (!element.readable()) {
                return element;
            }
            element.value().ifPresent(values::add);
        }
        return ConfigProperties.Property.of(String.join(",", values));
    }

    private Collection<String> parts(String name) {
        SortedMap<Integer, String> parts = elements.get(name);
        return parts == null ? List.of() : parts.values();
    }

    /** Tests whether a source that no source of elements precedes sets the list as a text. */
    private boolean isWhole(String name, Collection<String> parts) {
        ConfigProperties.Property whole = config.get(name);
        return (whole.value().isPresent() || !whole.readable())
                && parts.stream().allMatch(part -> config.ordinal(part) <= config.ordinal(name));
    }

    @Override
    public String source(String name) {
        Collection<String> parts = parts(name);
        return parts.isEmpty() || isWhole(name, parts)
                ? config.source(name)
                : config.source(parts.iterator().next());
    }

    @Override
    public int ordinal(String name) {
        return config.ordinal(name);
    }

    @Override
    public Set<String> names() {
        return Collections.unmodifiableSet(names);
    }

    @Override
    public List<ConfigurationProblem> problems() {
        return config.problems();
    }
}
