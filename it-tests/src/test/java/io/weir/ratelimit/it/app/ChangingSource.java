// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.spi.ConfigSource;

/** A config source whose properties a test sets at run time. */
public class ChangingSource implements ConfigSource {
    static final Map<String, String> PROPERTIES = new ConcurrentHashMap<>();

    @Override
    public Set<String> getPropertyNames() {
        return PROPERTIES.keySet();
    }

    @Override
    public String getValue(String name) {
        return PROPERTIES.get(name);
    }

    @Override
    public String getName() {
        return "changing";
    }

    @Override
    public int getOrdinal() {
        return 200;
    }
}
