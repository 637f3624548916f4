// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.spi.ConfigSource;

/** A configuration source with changing properties, which records the names that it is asked for. */
class ChangingConfigSource implements ConfigSource {
    final Map<String, String> properties = new ConcurrentHashMap<>();
    final List<String> asked = new ArrayList<>();
    private final String name;
    private final int ordinal;

    ChangingConfigSource(String name, int ordinal, Map<String, String> properties) {
        this.name = name;
        this.ordinal = ordinal;
        this.properties.putAll(properties);
    }

    /** Returns a source that lists no names. */
    static ChangingConfigSource withoutNames(String name, int ordinal, Map<String, String> properties) {
        return new ChangingConfigSource(name, ordinal, properties) {
            @Override
            public Set<String> getPropertyNames() {
                return Set.of();
            }
        };
    }

    @Override
    public Set<String> getPropertyNames() {
        return Set.copyOf(properties.keySet());
    }

    @Override
    public synchronized String getValue(String property) {
        asked.add(property);
        return properties.get(property);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public int getOrdinal() {
        return ordinal;
    }
}
